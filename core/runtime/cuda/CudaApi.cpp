// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/CudaApi.h"

#include <dlfcn.h>

namespace heddle {

namespace {

Code codeOf(int status)
{
    switch (status) {
    case cuda::outOfMemory: return Code::OutOfMemory;
    case cuda::notInitialised:
    case cuda::noDevice:
    case cuda::invalidDevice:
    case cuda::notPermitted:
    case cuda::notSupported: return Code::Environment;
    case cuda::launchTimeout: return Code::TimedOut;
    default: break;
    }
    // 34 to 46 and 802 to 804: driver and library that do not fit, devices in the wrong mode. 700 to 720: a kernel's faults.
    if ((status >= 34 && status <= 46) || (status >= 802 && status <= 804) || status == 999)
        return Code::Environment;
    return status >= cuda::illegalAddress && status <= 720 ? Code::Crashed : Code::InvalidInput;
}

} // namespace

Result<CudaApi> CudaApi::open(const std::string &library)
{
    void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        const char *reason = ::dlerror();
        return Error(Code::Environment,
                     std::string("cannot open CUDA's driver: ") + (reason != nullptr ? reason : ""), library,
                     "install NVIDIA's driver, or work on the cpu target");
    }
    CudaApi api;
    api.m_library = library;
    const char *missing = nullptr;
    // The exported names carry the version of the ABI that the declarations have ("_v2").
    const auto find = [&]<typename F>(F &function, const char *name) {
        function = reinterpret_cast<F>(::dlsym(handle, name));
        if (function == nullptr && missing == nullptr)
            missing = name;
    };
    find(api.init, "cuInit");
    find(api.driverGetVersion, "cuDriverGetVersion");
    find(api.deviceGetCount, "cuDeviceGetCount");
    find(api.deviceGet, "cuDeviceGet");
    find(api.deviceGetName, "cuDeviceGetName");
    find(api.deviceGetAttribute, "cuDeviceGetAttribute");
    find(api.primaryContextRetain, "cuDevicePrimaryCtxRetain");
    find(api.primaryContextRelease, "cuDevicePrimaryCtxRelease_v2");
    find(api.contextSetCurrent, "cuCtxSetCurrent");
    find(api.contextSynchronize, "cuCtxSynchronize");
    find(api.memoryGranularity, "cuMemGetAllocationGranularity");
    find(api.memoryCreate, "cuMemCreate");
    find(api.memoryRelease, "cuMemRelease");
    find(api.memoryExport, "cuMemExportToShareableHandle");
    find(api.memoryImport, "cuMemImportFromShareableHandle");
    find(api.addressReserve, "cuMemAddressReserve");
    find(api.addressFree, "cuMemAddressFree");
    find(api.memoryMap, "cuMemMap");
    find(api.memoryUnmap, "cuMemUnmap");
    find(api.memorySetAccess, "cuMemSetAccess");
    find(api.addressRange, "cuMemGetAddressRange_v2");
    find(api.memoryAllocate, "cuMemAlloc_v2");
    find(api.memoryFree, "cuMemFree_v2");
    find(api.ipcGetHandle, "cuIpcGetMemHandle");
    find(api.copyToHost, "cuMemcpyDtoH_v2");
    find(api.copyToDevice, "cuMemcpyHtoD_v2");
    find(api.moduleLoad, "cuModuleLoadDataEx");
    find(api.moduleUnload, "cuModuleUnload");
    find(api.moduleGetFunction, "cuModuleGetFunction");
    find(api.launchKernel, "cuLaunchKernel");
    find(api.errorName, "cuGetErrorName");
    find(api.errorText, "cuGetErrorString");
    if (missing != nullptr)
        return Error(Code::Environment, std::string("CUDA's driver has no function ") + missing, library,
                     "install a driver for CUDA 12 or later");
    return api;
}

Result<void> CudaApi::check(int status, const char *what) const
{
    if (status == cuda::success)
        return {};
    const char *name = nullptr;
    const char *text = nullptr;
    errorName(status, &name);
    errorText(status, &text);
    std::string message = std::string("cannot ") + what + ": "
        + (name != nullptr ? std::string(name) : "CUDA error " + std::to_string(status));
    if (text != nullptr)
        message += std::string(" (") + text + ")";
    return Error(codeOf(status), std::move(message));
}

Result<CudaContext> CudaContext::open(const CudaApi &api, int ordinal)
{
    CudaContext context;
    context.m_api = std::make_shared<CudaApi>(api);
    HEDDLE_CHECK_OK(api.check(api.init(0), "start CUDA"));
    HEDDLE_CHECK_OK(api.check(api.deviceGet(&context.m_device, ordinal), "find the device"));
    cuda::Context raw = nullptr;
    HEDDLE_CHECK_OK(api.check(api.primaryContextRetain(&raw, context.m_device), "open the device"));
    context.m_context = std::shared_ptr<void>(raw, [kept = context.m_api, device = context.m_device](void *) {
        kept->primaryContextRelease(device);
    });
    HEDDLE_CHECK_OK(api.check(api.contextSetCurrent(raw), "use the device"));
    return context;
}

Result<std::string> CudaContext::deviceName() const
{
    char name[256] = "";
    HEDDLE_CHECK_OK(
        m_api->check(m_api->deviceGetName(name, sizeof name - 1, m_device), "read the device's name"));
    return std::string(name);
}

Result<int> CudaContext::attribute(cuda::DeviceAttribute attribute) const
{
    int value = 0;
    HEDDLE_CHECK_OK(
        m_api->check(m_api->deviceGetAttribute(&value, attribute, m_device), "read a device attribute"));
    return value;
}

Result<void> CudaContext::synchronise() const
{
    return m_api->check(m_api->contextSynchronize(), "wait for the device");
}

} // namespace heddle
