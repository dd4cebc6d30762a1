// SPDX-License-Identifier: Apache-2.0
#include "core/rpc/FrameChannel.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace heddle {
namespace {

using namespace std::chrono_literals;

CallOptions within(std::chrono::milliseconds timeout)
{
    CallOptions options;
    options.timeout = timeout;
    return options;
}

class FrameChannelTest : public testing::Test {
protected:
    void SetUp() override
    {
        auto pair = FrameChannel::createPair();
        ASSERT_TRUE(pair);
        m_ours.emplace(std::move(pair->first));
        m_theirs = std::move(pair->second);
    }

    void sendRaw(std::string_view bytes) const
    {
        ASSERT_EQ(::send(m_theirs.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(bytes.size()));
    }

    /// A frame as the protocol has it.
    static std::string frame(const std::string &text)
    {
        const auto length = static_cast<std::uint32_t>(text.size());
        std::string bytes(4, '\0');
        for (std::size_t i = 0; i < 4; ++i)
            bytes[i] = static_cast<char>((length >> (8 * i)) & 0xff);
        return bytes + text;
    }

    std::optional<FrameChannel> m_ours;
    Fd m_theirs;
};

TEST_F(FrameChannelTest, aCallBringsBackItsResultDescriptorsAndProgress)
{
    std::thread peer([fd = m_theirs.release()] {
        FrameChannel channel{Fd(fd)};
        auto request = channel.receive(within(5s));
        ASSERT_TRUE(request);
        ASSERT_EQ(request->fds.size(), 1u);
        EXPECT_NE(::fcntl(request->fds[0].value(), F_GETFD) & FD_CLOEXEC, 0);
        char text[6] = "";
        EXPECT_EQ(::pread(request->fds[0].value(), text, 5, 0), 5);
        const Json id = request->body["id"];
        ASSERT_TRUE(channel.send(Json{{"id", id}, {"progress", {{"phase", "half"}, {"fraction", 0.5}}}}, {},
                                 within(5s)));
        ASSERT_TRUE(
            channel.send(Json{{"id", id}, {"result", {{"method", request->body["method"]}, {"text", text}}}},
                         {request->fds[0].value()}, within(5s)));
    });
    const Fd memory(::memfd_create("m", MFD_CLOEXEC));
    ASSERT_EQ(::write(memory.value(), "hello", 5), 5);
    std::vector<std::string> phases;
    CallOptions options = within(5s);
    options.progress = [&](const Progress &step) { phases.push_back(step.phase); };
    const auto reply = m_ours->call("open", Json{{"a", 1}}, {memory.value()}, options);
    peer.join();
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->result, (Json{{"method", "open"}, {"text", "hello"}}));
    EXPECT_EQ(reply->fds.size(), 1u);
    EXPECT_EQ(phases, std::vector<std::string>{"half"});
}

TEST_F(FrameChannelTest, anErrorOfTheOtherSideComesBackAsItIsAndTheChannelStays)
{
    std::thread peer([fd = m_theirs.release()] {
        FrameChannel channel{Fd(fd)};
        for (int i = 0; i < 2; ++i) {
            auto request = channel.receive(within(5s));
            ASSERT_TRUE(request);
            const Error error(Code::TaskFailed, "there is no Model", "task.py:3", "add a class Model");
            ASSERT_TRUE(
                channel.send(Json{{"id", request->body["id"]}, {"error", toJson(error)}}, {}, within(5s)));
        }
    });
    for (int i = 0; i < 2; ++i) {
        const auto reply = m_ours->call("open", Json::object());
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code(), Code::TaskFailed);
        EXPECT_EQ(reply.error().where(), "task.py:3");
        EXPECT_EQ(reply.error().next(), "add a class Model");
    }
    peer.join();
    EXPECT_FALSE(m_ours->isBroken());
}

TEST_F(FrameChannelTest, silenceEndsAtTheTimeoutAndBreaksTheChannel)
{
    const auto reply = m_ours->call("open", Json::object(), {}, within(50ms));
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::TimedOut);
    EXPECT_TRUE(m_ours->isBroken());
}

TEST_F(FrameChannelTest, aCancelEndsACallThatWaits)
{
    CancelSource source;
    CallOptions options = within(20s);
    options.cancel = source.get_token();
    std::thread canceller([&] {
        std::this_thread::sleep_for(50ms);
        source.request_stop();
    });
    const auto reply = m_ours->call("open", Json::object(), {}, options);
    canceller.join();
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::Cancelled);
}

TEST_F(FrameChannelTest, aDeadPeerIsACrashNotASignal)
{
    m_theirs.reset();
    const auto reply = m_ours->call("open", Json::object());
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code(), Code::Crashed);
}

TEST_F(FrameChannelTest, whateverBreaksTheFramingIsAProtocolError)
{
    const std::string cases[] = {
        std::string("\xff\xff\xff\xff", 4), // a length above the limit
        frame("not json"),
        frame("[1]"),
        frame(R"({"id": 1, "result": {}, "fds": 2})"), // descriptors that did not come
        frame(R"({"id": 99, "result": {}})"),          // an answer to nothing
        frame(R"({"id": 1})"),                         // neither result nor error
        frame(""),
    };
    for (const std::string &bytes : cases) {
        SetUp();
        sendRaw(bytes);
        const auto reply = m_ours->call("open", Json::object(), {}, within(2s));
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code(), Code::Protocol) << bytes << reply.error().text();
        EXPECT_TRUE(m_ours->isBroken());
    }
}

TEST_F(FrameChannelTest, halfAFrameIsWaitedForAndThenTimesOut)
{
    sendRaw(frame(R"({"id": 1, "result": {}})").substr(0, 10));
    EXPECT_EQ(m_ours->call("open", Json::object(), {}, within(50ms)).error().code(), Code::TimedOut);
}

TEST_F(FrameChannelTest, aLargeMessagePassesInParts)
{
    std::thread peer([fd = m_theirs.release()] {
        FrameChannel channel{Fd(fd)};
        auto request = channel.receive(within(20s));
        ASSERT_TRUE(request);
        ASSERT_TRUE(
            channel.send(Json{{"id", 1}, {"result", std::move(request->body["params"])}}, {}, within(20s)));
    });
    const Json large{{"text", std::string(5u << 20, 'x')}};
    const auto reply = m_ours->call("echo", large, {}, within(20s));
    peer.join();
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_EQ(reply->result, large);
}

} // namespace
} // namespace heddle
