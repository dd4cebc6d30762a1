// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/probe/Probe.h"

#include "core/base/Digest.h"
#include "core/rpc/FrameChannel.h"
#include "core/runtime/cuda/ExchangeBuffer.h"
#include "core/runtime/cuda/ExchangeWay.h"
#include "core/runtime/cuda/probe/Kernel.h"
#include "core/runtime/cuda/probe/Overreach.h"
#include "core/runtime/cuda/probe/Walls.h"
#include "core/sandbox/Enter.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::hours forever{24 * 365};
constexpr unsigned blockThreads = 256;

double microseconds(std::chrono::nanoseconds span)
{
    return std::chrono::duration<double, std::micro>(span).count();
}

std::vector<std::string> stringsOf(const Json &list)
{
    std::vector<std::string> strings;
    for (const Json &item : list) {
        if (item.is_string())
            strings.push_back(item.get<std::string>());
    }
    return strings;
}

class Probe {
public:
    Result<Json> handle(const std::string &method, const Json &params, std::vector<Fd> &fds)
    {
        if (method == "start")
            return start(params);
        if (method == "walls")
            return walls(params);
        if (method == "ping")
            return Json::object();
        if (!m_context)
            return Error(Code::Conflict, "the probe has not been started", method, "send start first");
        if (method == "attach")
            return attach(params, fds);
        if (method == "run")
            return run(params);
        if (method == "overreach")
            return overreach(params);
        return Error(Code::NotFound, "the probe has no such method", method);
    }

private:
    Result<Json> start(const Json &params)
    {
        Json answer = Json::object();
        if (boolOr(params, "raise_walls", true)) {
            char report[1024] = "";
            if (heddle_sandbox_enter("executor", report, sizeof report) != 0)
                return Error(Code::Environment, "the probe cannot raise its walls: " + std::string(report));
            HEDDLE_TRY(answer["sandbox"], parseJson(report, "report"));
        }
        const auto begun = Clock::now();
        HEDDLE_TRY(const CudaApi api, CudaApi::open(stringOr(params, "library", "libcuda.so.1")));
        HEDDLE_TRY(const CudaContext context,
                   CudaContext::open(api, static_cast<int>(integerOr(params, "device", 0))));
        const auto opened = Clock::now();
        cuda::Module module = nullptr;
        HEDDLE_CHECK_OK(
            api.check(api.moduleLoad(&module, probePtx, 0, nullptr, nullptr), "load the probe's kernels"));
        HEDDLE_CHECK_OK(api.check(api.moduleGetFunction(&m_gelu, module, probeGeluName), "find a kernel"));
        HEDDLE_CHECK_OK(api.check(api.moduleGetFunction(&m_read, module, probeReadName), "find a kernel"));
        const auto loaded = Clock::now();
        int version = 0;
        HEDDLE_CHECK_OK(api.check(api.driverGetVersion(&version), "ask for the driver's version"));
        HEDDLE_TRY(answer["device"], context.deviceName());
        answer["driver_version"] = version;
        answer["exchange"] = probeExchange(context).toJson();
        answer["timings_us"] = Json{{"open_device", microseconds(opened - begun)},
                                    {"load_kernels", microseconds(loaded - opened)}};
        m_context = context;
        return answer;
    }

    static Result<Json> walls(const Json &params)
    {
        WallTargets targets;
        targets.secretFiles = stringsOf(memberOr(params, "secret_files"));
        targets.closedFolders = stringsOf(memberOr(params, "closed_folders"));
        targets.visible = stringsOf(memberOr(params, "visible"));
        targets.processOutside = static_cast<int>(integerOr(params, "process_outside", 0));
        targets.marker = stringOr(params, "marker");
        targets.scratch = stringOr(params, "scratch");
        targets.listener = stringOr(params, "listener");
        if (targets.marker.empty() || targets.scratch.empty() || targets.listener.empty())
            return Error(Code::InvalidInput, "walls needs the marker, the listener and the scratch folder");
        return Json{{"attempts", tryWalls(targets)}};
    }

    Result<Json> attach(const Json &params, std::vector<Fd> &fds)
    {
        const Json &list = memberOr(params, "buffers");
        if (!list.is_array() || list.size() != fds.size())
            return Error(Code::InvalidInput, "attach needs one descriptor for each buffer", "buffers");
        Json rows = Json::array();
        for (std::size_t i = 0; i < fds.size(); ++i) {
            HEDDLE_TRY(Json row, attachOne(list[i], fds[i]));
            rows.push_back(std::move(row));
        }
        return Json{{"buffers", rows}};
    }

    Result<Json> attachOne(const Json &entry, const Fd &descriptor)
    {
        const std::string name = stringOr(entry, "name");
        const auto bytes = static_cast<std::uint64_t>(integerOr(entry, "bytes", 0));
        ImportTiming timing;
        HEDDLE_TRY(ExchangeBuffer buffer, ExchangeBuffer::import(*m_context, descriptor, bytes, &timing));
        HEDDLE_TRY(const std::string content, buffer.read(0, buffer.bytes()));
        HEDDLE_TRY(const std::string slack,
                   buffer.read(buffer.bytes(), buffer.mappedBytes() - buffer.bytes()));
        const CudaApi &api = m_context->api();
        cuda::DevicePointer base = 0;
        std::size_t range = 0;
        HEDDLE_CHECK_OK(
            api.check(api.addressRange(&base, &range, buffer.address()), "ask for a buffer's range"));
        Json row{{"name", name},
                 {"sha256", sha256Hex(content)},
                 {"slack_bytes", slack.size()},
                 {"slack_is_zero", slack.find_first_not_of('\0') == std::string::npos},
                 {"mapped_bytes", buffer.mappedBytes()},
                 {"range_bytes", range},
                 {"starts_range", base == buffer.address()},
                 {"import_us", microseconds(timing.import)},
                 {"map_us", microseconds(timing.map)},
                 {"access_us", microseconds(timing.access)}};
        m_buffers.insert_or_assign(name, std::move(buffer));
        return row;
    }

    Result<const ExchangeBuffer *> bufferNamed(const Json &params, const char *member,
                                               std::uint64_t atLeast) const
    {
        const auto found = m_buffers.find(stringOr(params, member));
        if (found == m_buffers.end())
            return Error(Code::InvalidInput, "there is no such buffer", member);
        if (found->second.bytes() < atLeast)
            return Error(Code::InvalidInput, "the buffer is too small", member);
        return &found->second;
    }

    Result<Json> run(const Json &params) const
    {
        const std::int64_t count = integerOr(params, "count", 0);
        const std::int64_t columns = integerOr(params, "columns", 0);
        if (count < 1 || columns < 1 || count > (1ll << 31) - blockThreads || columns > count)
            return Error(Code::InvalidInput, "count and columns must be positive and below 2^31", "count");
        const auto elements = static_cast<std::uint64_t>(count);
        const auto width = static_cast<std::uint64_t>(columns);
        HEDDLE_TRY(const ExchangeBuffer *x, bufferNamed(params, "x", 4 * elements));
        HEDDLE_TRY(const ExchangeBuffer *w, bufferNamed(params, "w", 4 * width));
        HEDDLE_TRY(const ExchangeBuffer *b, bufferNamed(params, "b", 4 * width));
        HEDDLE_TRY(const ExchangeBuffer *y, bufferNamed(params, "y", 4 * elements));
        cuda::DevicePointer pointers[] = {x->address(), w->address(), b->address(), y->address()};
        auto count32 = static_cast<std::uint32_t>(count);
        auto columns32 = static_cast<std::uint32_t>(columns);
        void *arguments[] = {&pointers[0], &pointers[1], &pointers[2], &pointers[3], &count32, &columns32};
        const unsigned blocks = (count32 + blockThreads - 1) / blockThreads;
        const CudaApi &api = m_context->api();
        const auto begun = Clock::now();
        HEDDLE_CHECK_OK(api.check(
            api.launchKernel(m_gelu, blocks, 1, 1, blockThreads, 1, 1, 0, nullptr, arguments, nullptr),
            "launch the kernel"));
        HEDDLE_CHECK_OK(m_context->synchronise());
        return Json{{"launch_us", microseconds(Clock::now() - begun)}};
    }

    Result<Json> overreach(const Json &params) const
    {
        HEDDLE_TRY(const ExchangeBuffer *buffer, bufferNamed(params, "buffer", 4));
        HEDDLE_TRY(Json attempts, tryOverreach(*m_context, *buffer, m_read));
        return Json{{"attempts", std::move(attempts)}};
    }

    std::optional<CudaContext> m_context;
    std::map<std::string, ExchangeBuffer> m_buffers; // destroyed before the context
    cuda::Function m_gelu = nullptr;
    cuda::Function m_read = nullptr;
};

} // namespace

int serveProbe(int descriptor)
{
    FrameChannel channel{Fd(descriptor)};
    CallOptions options;
    options.timeout = forever;
    Probe probe;
    while (true) {
        auto frame = channel.receive(options);
        if (!frame)
            return frame.error().code() == Code::Crashed ? 0 : 1;
        const Json id = memberOr(frame->body, "id");
        auto result =
            probe.handle(stringOr(frame->body, "method"), memberOr(frame->body, "params"), frame->fds);
        const Json answer = result ? Json{{"id", id}, {"result", std::move(result).value()}}
                                   : Json{{"id", id}, {"error", toJson(result.error())}};
        if (!channel.send(answer, {}, options))
            return 1;
    }
}

} // namespace heddle
