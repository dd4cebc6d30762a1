// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/LineServer.h"
#include "core/base/File.h"
#include "core/rpc/LineClient.h"
#include "core/rpc/LineStream.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace heddle {
namespace {

using namespace std::chrono_literals;

class LineServerTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto folder = TempFolder::create("heddle-rpc-test-");
        ASSERT_TRUE(folder);
        m_folder.emplace(std::move(folder).value());
        m_path = m_folder->path() / "s.sock";
        m_server.emplace([this](const std::string &method, const Json &params, const CancelToken &cancel,
                                const ProgressSink &progress) -> Result<Json> {
            if (method == "echo")
                return params;
            if (method == "progress") {
                progress(Progress{"one", 0.25, "a quarter"});
                progress(Progress{"two", -1.0, ""});
                return Json("done");
            }
            if (method == "wait") {
                ++m_waiting;
                while (!cancel.stop_requested())
                    std::this_thread::sleep_for(1ms);
                ++m_cancelled;
                return Error(Code::Cancelled, "it was cancelled");
            }
            if (method == "throw")
                return Json(params.at("missing"));
            return Error(Code::NotFound, "there is no such method", method, "look at the protocol");
        });
        ASSERT_TRUE(m_server->listen(m_path));
    }

    void waitFor(const std::atomic<int> &counter, int value) const
    {
        for (int i = 0; i < 3000 && counter < value; ++i)
            std::this_thread::sleep_for(1ms);
        EXPECT_EQ(counter, value);
    }

    std::optional<TempFolder> m_folder;
    std::filesystem::path m_path;
    std::atomic<int> m_waiting{0};
    std::atomic<int> m_cancelled{0};
    std::optional<LineServer> m_server;
};

TEST_F(LineServerTest, requestsRunSideBySideOverOneConnection)
{
    auto client = LineClient::connect(m_path);
    ASSERT_TRUE(client);
    CancelSource source;
    CallOptions options;
    options.cancel = source.get_token();
    std::optional<Result<Json>> slow;
    std::thread waiting([&] { slow.emplace((*client)->call("wait", Json::object(), options)); });
    waitFor(m_waiting, 1);
    for (int i = 0; i < 20; ++i)
        EXPECT_EQ((*client)->call("echo", Json{{"i", i}}).value(), (Json{{"i", i}}));
    EXPECT_EQ(m_server->idleTime().count(), 0);
    source.request_stop();
    waiting.join();
    ASSERT_TRUE(slow && !*slow);
    EXPECT_EQ(slow->error().code(), Code::Cancelled);
    EXPECT_EQ(m_cancelled, 1);
}

TEST_F(LineServerTest, progressArrivesInOrderBeforeTheResult)
{
    auto client = LineClient::connect(m_path);
    ASSERT_TRUE(client);
    std::vector<Progress> steps;
    CallOptions options;
    options.progress = [&](const Progress &step) { steps.push_back(step); };
    EXPECT_EQ((*client)->call("progress", Json::object(), options).value(), Json("done"));
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].phase, "one");
    EXPECT_EQ(steps[0].fraction, 0.25);
    EXPECT_EQ(steps[0].detail, "a quarter");
    EXPECT_LT(steps[1].fraction, 0);
}

TEST_F(LineServerTest, errorsKeepCodePlaceAndRemedyAndAnExceptionIsOne)
{
    auto client = LineClient::connect(m_path);
    ASSERT_TRUE(client);
    const auto missing = (*client)->call("nothing", Json::object());
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().code(), Code::NotFound);
    EXPECT_EQ(missing.error().where(), "nothing");
    EXPECT_EQ(missing.error().next(), "look at the protocol");
    const auto thrown = (*client)->call("throw", Json::object());
    ASSERT_FALSE(thrown);
    EXPECT_EQ(thrown.error().code(), Code::Internal);
    EXPECT_TRUE((*client)->call("echo", Json::object())) << "the server goes on";
}

TEST_F(LineServerTest, aTimeoutCancelsTheRequest)
{
    auto client = LineClient::connect(m_path);
    ASSERT_TRUE(client);
    CallOptions options;
    options.timeout = 50ms;
    EXPECT_FALSE((*client)->call("wait", Json::object(), options));
    waitFor(m_cancelled, 1);
}

TEST_F(LineServerTest, aDroppedConnectionCancelsItsRequests)
{
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::thread serving([&] { EXPECT_TRUE(m_server->serve(Fd(ends[1]), Fd())); });
    {
        auto stream = LineStream::create(Fd(ends[0]), Fd());
        ASSERT_TRUE(stream);
        (*stream)->write(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "wait"}});
        waitFor(m_waiting, 1);
    }
    serving.join();
    EXPECT_EQ(m_cancelled, 1);
}

TEST_F(LineServerTest, malformedLinesAreAnsweredAndTheConnectionStays)
{
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    std::thread serving([&] { EXPECT_TRUE(m_server->serve(Fd(ends[1]), Fd())); });
    auto stream = LineStream::create(Fd(ends[0]), Fd());
    ASSERT_TRUE(stream);
    const char *lines[] = {"nonsense\n",
                           "[]\n",
                           "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"echo\"}\n",
                           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}\n",
                           "\n",
                           "{\"jsonrpc\":\"1.0\"}\n"};
    for (const char *line : lines) {
        ASSERT_GT(::send(ends[0], line, std::strlen(line), 0), 0);
        const auto answer = (*stream)->readLine();
        ASSERT_TRUE(answer) << line;
        EXPECT_NE(answer->find("\"error\""), std::string::npos) << line << *answer;
    }
    (*stream)->write(Json{{"jsonrpc", "2.0"}, {"id", "a"}, {"method", "echo"}, {"params", {{"x", 1}}}});
    EXPECT_EQ(parseJson((*stream)->readLine().value(), "answer").value(),
              (Json{{"jsonrpc", "2.0"}, {"id", "a"}, {"result", {{"x", 1}}}}));
    (*stream)->interrupt();
    serving.join();
}

TEST_F(LineServerTest, twoPipesServeAsWellAsASocket)
{
    int up[2];
    int down[2];
    ASSERT_EQ(::pipe2(up, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(down, O_CLOEXEC), 0);
    std::thread serving([&] { EXPECT_TRUE(m_server->serve(Fd(up[0]), Fd(down[1]))); });
    {
        auto client = LineClient::fromPipes(Fd(down[0]), Fd(up[1]));
        ASSERT_TRUE(client);
        EXPECT_EQ((*client)->call("echo", Json{{"a", 1}}).value(), (Json{{"a", 1}}));
    }
    serving.join();
}

TEST_F(LineServerTest, stoppingCancelsEverythingAndTheClientIsTold)
{
    auto client = LineClient::connect(m_path);
    ASSERT_TRUE(client);
    std::optional<Result<Json>> result;
    std::thread waiting([&] { result.emplace((*client)->call("wait", Json::object())); });
    waitFor(m_waiting, 1);
    m_server->stop();
    waiting.join();
    ASSERT_TRUE(result && !*result);
    EXPECT_TRUE(result->error().code() == Code::Crashed || result->error().code() == Code::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(m_path));
    EXPECT_FALSE(LineClient::connect(m_path));
}

TEST_F(LineServerTest, aSecondServerOnTheSameSocketIsAConflictAndADeadSocketIsReplaced)
{
    LineServer second([](const std::string &, const Json &, const CancelToken &,
                         const ProgressSink &) -> Result<Json> { return Json(); });
    const auto taken = second.listen(m_path);
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code(), Code::Conflict);
    m_server->stop();
    {
        // What a killed worker leaves: a bound socket that nobody listens on.
        const Fd dead(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strcpy(address.sun_path, m_path.c_str());
        ASSERT_EQ(::bind(dead.value(), reinterpret_cast<const sockaddr *>(&address), sizeof address), 0);
    }
    ASSERT_TRUE(std::filesystem::exists(m_path));
    EXPECT_TRUE(second.listen(m_path));
}

TEST(RpcMessageTest, whatIsNotAMessageIsRefusedWithoutACrash)
{
    for (const char *line :
         {"", "{", "null", "1", "\"x\"", "{}", "{\"jsonrpc\":\"2.0\"}",
          "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}",
          "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":[1]}", "{\"jsonrpc\":\"2.0\",\"error\":1}"})
        EXPECT_FALSE(parseRpcMessage(line)) << line;
    const auto good = parseRpcMessage(R"({"jsonrpc":"2.0","id":3,"method":"m"})");
    ASSERT_TRUE(good);
    EXPECT_EQ(good->method, "m");
    EXPECT_TRUE(good->params.is_object());
}

} // namespace
} // namespace heddle
