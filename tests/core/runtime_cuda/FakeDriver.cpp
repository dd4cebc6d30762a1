// SPDX-License-Identifier: Apache-2.0
// A library with the symbols of CUDA's driver that core/runtime/cuda uses. See FakeDriver.h.
#include "tests/core/runtime_cuda/FakeDriver.h"

#include "core/runtime/cuda/CudaApi.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>

namespace {

using heddle::cuda::AllocationHandle;
using heddle::cuda::AllocationProperties;
using heddle::cuda::DevicePointer;

constexpr std::size_t granularity = 2u << 20;

struct State {
    std::string calls;
    std::map<std::string, int> failures;
    std::map<AllocationHandle, int> handles;       // to memfd
    std::map<DevicePointer, std::size_t> mappings; // start to bytes
    std::map<DevicePointer, std::size_t> reservations;
    std::map<DevicePointer, std::size_t> allocations;
    AllocationHandle nextHandle = 1;
    int lost = 0; // the sticky error of a lost context
};

State &state()
{
    static State value;
    return value;
}

/// Notes the call; the status that it must give at once, 0 to go on.
int begin(const char *name)
{
    State &s = state();
    const auto found = s.failures.find(name);
    const int status = s.lost != 0 ? s.lost : (found != s.failures.end() ? found->second : 0);
    if (!s.calls.empty())
        s.calls += ' ';
    if (status != 0)
        s.calls += '!';
    s.calls += name;
    return status;
}

bool isMapped(DevicePointer address, std::size_t bytes)
{
    for (const auto *ranges : {&state().mappings, &state().allocations}) {
        auto after = ranges->upper_bound(address);
        if (after == ranges->begin())
            continue;
        --after;
        if (address - after->first < after->second && bytes <= after->second - (address - after->first))
            return true;
    }
    return false;
}

std::size_t sizeOf(int fd)
{
    struct stat info{};
    return ::fstat(fd, &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

template<typename T>
T &at(DevicePointer address)
{
    return *reinterpret_cast<T *>(address);
}

template<typename T>
T argument(void **parameters, int index)
{
    return *static_cast<T *>(parameters[index]);
}

int runGelu(void **parameters)
{
    const auto count = argument<std::uint32_t>(parameters, 4);
    const auto columns = argument<std::uint32_t>(parameters, 5);
    DevicePointer p[4];
    for (int i = 0; i < 4; ++i) {
        p[i] = argument<DevicePointer>(parameters, i);
        if (!isMapped(p[i], 4ull * (i == 0 || i == 3 ? count : columns)))
            return state().lost = heddle::cuda::illegalAddress;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const float v = std::fmaf(at<float>(p[0] + 4ull * i), at<float>(p[1] + 4ull * (i % columns)),
                                  at<float>(p[2] + 4ull * (i % columns)));
        at<float>(p[3] + 4ull * i) = v / (1.0f + std::exp(-1.702f * v));
    }
    return 0;
}

int runRead(void **parameters)
{
    const auto from = argument<DevicePointer>(parameters, 0);
    const auto to = argument<DevicePointer>(parameters, 1);
    if (!isMapped(from, 4) || !isMapped(to, 4))
        return state().lost = heddle::cuda::illegalAddress;
    at<std::uint32_t>(to) = at<std::uint32_t>(from);
    return 0;
}

const char geluName[] = "heddle_probe_gelu";
const char readName[] = "heddle_probe_read";

} // namespace

extern "C" {

void heddle_fake_reset()
{
    state().calls.clear();
    state().failures.clear();
    state().lost = 0;
}

const char *heddle_fake_calls() { return state().calls.c_str(); }

void heddle_fake_fail(const char *name, int status) { state().failures[name] = status; }

int heddle_fake_live()
{
    const State &s = state();
    return static_cast<int>(s.handles.size() + s.mappings.size() + s.reservations.size()
                            + s.allocations.size());
}

int cuInit(unsigned) { return begin("cuInit"); }

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return begin("cuDriverGetVersion");
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return begin("cuDeviceGetCount");
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    const int status = begin("cuDeviceGet");
    return status == 0 && ordinal != 0 ? heddle::cuda::invalidDevice : status;
}

int cuDeviceGetName(char *name, int bytes, int)
{
    std::strncpy(name, "fake device", static_cast<std::size_t>(bytes));
    return begin("cuDeviceGetName");
}

int cuDeviceGetAttribute(int *value, int attribute, int)
{
    // A failure asked for "attribute:N" makes the device lack it.
    *value = state().failures.count("attribute:" + std::to_string(attribute)) == 0 ? 1 : 0;
    return begin("cuDeviceGetAttribute");
}

int cuDevicePrimaryCtxRetain(void **context, int)
{
    *context = &state();
    return begin("cuDevicePrimaryCtxRetain");
}

int cuDevicePrimaryCtxRelease_v2(int) { return begin("cuDevicePrimaryCtxRelease_v2"); }

int cuCtxSetCurrent(void *) { return begin("cuCtxSetCurrent"); }

int cuCtxSynchronize() { return begin("cuCtxSynchronize"); }

int cuMemGetAllocationGranularity(std::size_t *bytes, const AllocationProperties *, int)
{
    *bytes = granularity;
    return begin("cuMemGetAllocationGranularity");
}

int cuMemCreate(AllocationHandle *handle, std::size_t bytes, const AllocationProperties *properties,
                unsigned long long)
{
    if (const int status = begin("cuMemCreate"); status != 0)
        return status;
    if (bytes == 0 || bytes % granularity != 0 || properties->type != 1
        || properties->requestedHandleTypes != 1 || properties->location.type != 1)
        return heddle::cuda::invalidValue;
    const int fd = ::memfd_create("fake-device-memory", MFD_CLOEXEC);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(bytes)) != 0)
        return heddle::cuda::outOfMemory;
    *handle = state().nextHandle++;
    state().handles[*handle] = fd;
    return 0;
}

int cuMemRelease(AllocationHandle handle)
{
    const int status = begin("cuMemRelease");
    const auto found = state().handles.find(handle);
    if (found == state().handles.end())
        return heddle::cuda::invalidValue;
    ::close(found->second);
    state().handles.erase(found);
    return status;
}

int cuMemExportToShareableHandle(void *shareable, AllocationHandle handle, int type, unsigned long long)
{
    if (const int status = begin("cuMemExportToShareableHandle"); status != 0)
        return status;
    const auto found = state().handles.find(handle);
    if (found == state().handles.end() || type != 1)
        return heddle::cuda::invalidValue;
    // Without close-on-exec, as the real driver gives it.
    *static_cast<int *>(shareable) = ::dup(found->second);
    return 0;
}

int cuMemImportFromShareableHandle(AllocationHandle *handle, void *shareable, int type)
{
    if (const int status = begin("cuMemImportFromShareableHandle"); status != 0)
        return status;
    const int fd = static_cast<int>(reinterpret_cast<std::intptr_t>(shareable));
    if (type != 1 || sizeOf(fd) == 0 || sizeOf(fd) % granularity != 0)
        return heddle::cuda::invalidValue;
    *handle = state().nextHandle++;
    state().handles[*handle] = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return 0;
}

int cuMemAddressReserve(DevicePointer *address, std::size_t bytes, std::size_t, DevicePointer,
                        unsigned long long)
{
    if (const int status = begin("cuMemAddressReserve"); status != 0)
        return status;
    void *range = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED)
        return heddle::cuda::outOfMemory;
    *address = reinterpret_cast<DevicePointer>(range);
    state().reservations[*address] = bytes;
    return 0;
}

int cuMemAddressFree(DevicePointer address, std::size_t bytes)
{
    const int status = begin("cuMemAddressFree");
    if (state().reservations.erase(address) == 0)
        return heddle::cuda::invalidValue;
    ::munmap(reinterpret_cast<void *>(address), bytes);
    return status;
}

int cuMemMap(DevicePointer address, std::size_t bytes, std::size_t offset, AllocationHandle handle,
             unsigned long long)
{
    if (const int status = begin("cuMemMap"); status != 0)
        return status;
    const auto found = state().handles.find(handle);
    const auto reserved = state().reservations.find(address);
    if (found == state().handles.end() || reserved == state().reservations.end() || bytes > reserved->second
        || offset != 0 || bytes > sizeOf(found->second))
        return heddle::cuda::invalidValue;
    ::mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, found->second, 0);
    state().mappings[address] = bytes;
    return 0;
}

int cuMemUnmap(DevicePointer address, std::size_t bytes)
{
    const int status = begin("cuMemUnmap");
    if (state().mappings.erase(address) == 0)
        return heddle::cuda::invalidValue;
    ::mmap(reinterpret_cast<void *>(address), bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    return status;
}

int cuMemSetAccess(DevicePointer address, std::size_t bytes, const heddle::cuda::AccessDescription *access,
                   std::size_t)
{
    if (const int status = begin("cuMemSetAccess"); status != 0)
        return status;
    if (!isMapped(address, bytes) || access->flags != 3)
        return heddle::cuda::invalidValue;
    return ::mprotect(reinterpret_cast<void *>(address), bytes, PROT_READ | PROT_WRITE) == 0
        ? 0
        : heddle::cuda::invalidValue;
}

int cuMemGetAddressRange_v2(DevicePointer *base, std::size_t *bytes, DevicePointer address)
{
    if (const int status = begin("cuMemGetAddressRange_v2"); status != 0)
        return status;
    const auto found = state().mappings.find(address);
    if (found == state().mappings.end())
        return heddle::cuda::invalidValue;
    *base = found->first;
    *bytes = found->second;
    return 0;
}

int cuMemAlloc_v2(DevicePointer *address, std::size_t bytes)
{
    if (const int status = begin("cuMemAlloc_v2"); status != 0)
        return status;
    *address = reinterpret_cast<DevicePointer>(new char[bytes]);
    state().allocations[*address] = bytes;
    return 0;
}

int cuMemFree_v2(DevicePointer address)
{
    const int status = begin("cuMemFree_v2");
    if (state().allocations.erase(address) == 0)
        return heddle::cuda::invalidValue;
    delete[] reinterpret_cast<char *>(address);
    return status;
}

int cuIpcGetMemHandle(heddle::cuda::IpcMemoryHandle *, DevicePointer) { return begin("cuIpcGetMemHandle"); }

int cuMemcpyDtoH_v2(void *to, DevicePointer from, std::size_t bytes)
{
    if (const int status = begin("cuMemcpyDtoH_v2"); status != 0)
        return status;
    if (!isMapped(from, bytes))
        return heddle::cuda::invalidValue;
    std::memcpy(to, &at<char>(from), bytes);
    return 0;
}

int cuMemcpyHtoD_v2(DevicePointer to, const void *from, std::size_t bytes)
{
    if (const int status = begin("cuMemcpyHtoD_v2"); status != 0)
        return status;
    if (!isMapped(to, bytes))
        return heddle::cuda::invalidValue;
    std::memcpy(&at<char>(to), from, bytes);
    return 0;
}

int cuModuleLoadDataEx(void **module, const void *image, unsigned, int *, void **)
{
    *module = &state();
    const int status = begin("cuModuleLoadDataEx");
    return status == 0 && std::strstr(static_cast<const char *>(image), geluName) == nullptr ? 209 : status;
}

int cuModuleUnload(void *) { return begin("cuModuleUnload"); }

int cuModuleGetFunction(const char **function, void *, const char *name)
{
    if (const int status = begin("cuModuleGetFunction"); status != 0)
        return status;
    *function =
        std::strcmp(name, geluName) == 0 ? geluName : (std::strcmp(name, readName) == 0 ? readName : nullptr);
    return *function == nullptr ? 500 : 0;
}

int cuLaunchKernel(const char *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void *, void **parameters, void **)
{
    if (const int status = begin("cuLaunchKernel"); status != 0)
        return status;
    // Faults are seen at the next synchronisation, as on a device.
    if (function == geluName)
        runGelu(parameters);
    else
        runRead(parameters);
    return 0;
}

int cuGetErrorName(int status, const char **name)
{
    static const std::map<int, const char *> names{
        {1, "CUDA_ERROR_INVALID_VALUE"},       {2, "CUDA_ERROR_OUT_OF_MEMORY"},
        {100, "CUDA_ERROR_NO_DEVICE"},         {101, "CUDA_ERROR_INVALID_DEVICE"},
        {209, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {500, "CUDA_ERROR_NOT_FOUND"},
        {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},   {800, "CUDA_ERROR_NOT_PERMITTED"},
        {801, "CUDA_ERROR_NOT_SUPPORTED"}};
    const auto found = names.find(status);
    *name = found == names.end() ? nullptr : found->second;
    return found == names.end() ? heddle::cuda::invalidValue : 0;
}

int cuGetErrorString(int, const char **text)
{
    *text = "as the fake driver was told";
    return 0;
}

} // extern "C"
