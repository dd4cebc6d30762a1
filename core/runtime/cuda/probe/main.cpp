// SPDX-License-Identifier: Apache-2.0
// heddle-cuda-probe: shows what a process inside the sandbox can do with a GPU and with the memory that it is given.
//   heddle-cuda-probe doctor [LIBRARY]   what is there, as JSON; exit code 0 with a usable GPU, 3 without
//   heddle-cuda-probe serve              answers on descriptor 3 (core/rpc/FrameChannel.h); see Probe.h
#include "core/runtime/cuda/ExchangeWay.h"
#include "core/runtime/cuda/probe/Probe.h"

#include <cstdio>
#include <cstring>

namespace {

using namespace heddle;

Result<Json> describe(const char *library)
{
    HEDDLE_TRY(const CudaApi api, CudaApi::open(library));
    HEDDLE_TRY(const CudaContext context, CudaContext::open(api, 0));
    HEDDLE_TRY(const std::string name, context.deviceName());
    int version = 0;
    HEDDLE_CHECK_OK(api.check(api.driverGetVersion(&version), "ask for the driver's version"));
    return Json{{"driver", library},
                {"driver_version", version},
                {"device", name},
                {"exchange", probeExchange(context).toJson()}};
}

int doctor(const char *library)
{
    const auto found = describe(library);
    const Json answer = found ? found.value() : Json{{"error", toJson(found.error())}};
    std::printf("%s\n", prettyText(answer).c_str());
    return found ? 0 : 3;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc >= 2 && std::strcmp(argv[1], "doctor") == 0)
        return doctor(argc > 2 ? argv[2] : "libcuda.so.1");
    if (argc == 2 && std::strcmp(argv[1], "serve") == 0)
        return heddle::serveProbe(3);
    std::fputs("usage: heddle-cuda-probe doctor [LIBRARY] | serve\n"
               "doctor says whether this machine has a GPU that Heddle can use; serve is started by Heddle's "
               "own tests.\n",
               stderr);
    return 2;
}
