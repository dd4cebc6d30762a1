// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace heddle {

/// The few declarations of CUDA's driver API that we use, by the names of its reference manual (CUDA 13.0, unchanged since
/// 12.0). Ours, so that nothing of CUDA is needed to build; the run on a GPU (tests/gpu) would fail on a wrong one.
namespace cuda {

using DevicePointer = std::uint64_t;
using AllocationHandle = std::uint64_t;
using Context = struct CUctx_st *;
using Module = struct CUmod_st *;
using Function = struct CUfunc_st *;
using Stream = struct CUstream_st *;

struct Location {
    int type = 1; ///< CU_MEM_LOCATION_TYPE_DEVICE
    int id = 0;   ///< the device's ordinal
};

/// CUmemAllocationProp for pinned device memory that can leave as a file descriptor.
struct AllocationProperties {
    int type = 1;                 ///< CU_MEM_ALLOCATION_TYPE_PINNED
    int requestedHandleTypes = 1; ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    Location location;
    void *win32HandleMetaData = nullptr;
    unsigned char compressionType = 0;
    unsigned char gpuDirectRdmaCapable = 0;
    unsigned short usage = 0;
    unsigned char reserved[4] = {};
};

struct AccessDescription {
    Location location;
    int flags = 3; ///< CU_MEM_ACCESS_FLAGS_PROT_READWRITE
};

struct IpcMemoryHandle {
    char reserved[64] = {};
};

static_assert(sizeof(AllocationProperties) == 32 && sizeof(AccessDescription) == 12 && sizeof(void *) == 8);

enum Status : int {
    success = 0,
    invalidValue = 1,
    outOfMemory = 2,
    notInitialised = 3,
    noDevice = 100,
    invalidDevice = 101,
    illegalAddress = 700,
    launchTimeout = 702,
    launchFailed = 719,
    notPermitted = 800,
    notSupported = 801,
};

enum DeviceAttribute : int {
    unifiedAddressing = 41,
    computeCapabilityMajor = 75,
    computeCapabilityMinor = 76,
    virtualMemorySupported = 102,
    fileDescriptorSupported = 103,
};

constexpr int fileDescriptorHandle = 1; ///< CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int minimumGranularity = 0;   ///< CU_MEM_ALLOC_GRANULARITY_MINIMUM

} // namespace cuda

/// CUDA's driver library, opened at run time: a table of its functions. Nothing links against it, so a program that holds
/// this starts on every machine. The library stays loaded for the life of the process (its threads run in it).
/// Copyable; as thread-safe as the driver.
class CudaApi {
public:
    /// Errors: Environment, naming the library or the function that is missing.
    static Result<CudaApi> open(const std::string &library = "libcuda.so.1");

    /// Nothing for 0; else an Error with CUDA's own name of the code: OutOfMemory, Environment (no device, no driver,
    /// not supported), Crashed (a kernel went wrong; the context is lost), otherwise InvalidInput.
    Result<void> check(int status, const char *what) const;

    /// The path that was opened, as given.
    const std::string &library() const { return m_library; }

    int (*init)(unsigned flags) = nullptr;
    int (*driverGetVersion)(int *version) = nullptr;
    int (*deviceGetCount)(int *count) = nullptr;
    int (*deviceGet)(int *device, int ordinal) = nullptr;
    int (*deviceGetName)(char *name, int bytes, int device) = nullptr;
    int (*deviceGetAttribute)(int *value, int attribute, int device) = nullptr;
    int (*primaryContextRetain)(cuda::Context *context, int device) = nullptr;
    int (*primaryContextRelease)(int device) = nullptr;
    int (*contextSetCurrent)(cuda::Context context) = nullptr;
    int (*contextSynchronize)() = nullptr;
    int (*memoryGranularity)(std::size_t *bytes, const cuda::AllocationProperties *properties,
                             int option) = nullptr;
    int (*memoryCreate)(cuda::AllocationHandle *handle, std::size_t bytes,
                        const cuda::AllocationProperties *properties, unsigned long long flags) = nullptr;
    int (*memoryRelease)(cuda::AllocationHandle handle) = nullptr;
    int (*memoryExport)(void *shareable, cuda::AllocationHandle handle, int type,
                        unsigned long long flags) = nullptr;
    int (*memoryImport)(cuda::AllocationHandle *handle, void *shareable, int type) = nullptr;
    int (*addressReserve)(cuda::DevicePointer *address, std::size_t bytes, std::size_t alignment,
                          cuda::DevicePointer hint, unsigned long long flags) = nullptr;
    int (*addressFree)(cuda::DevicePointer address, std::size_t bytes) = nullptr;
    int (*memoryMap)(cuda::DevicePointer address, std::size_t bytes, std::size_t offset,
                     cuda::AllocationHandle handle, unsigned long long flags) = nullptr;
    int (*memoryUnmap)(cuda::DevicePointer address, std::size_t bytes) = nullptr;
    int (*memorySetAccess)(cuda::DevicePointer address, std::size_t bytes,
                           const cuda::AccessDescription *access, std::size_t count) = nullptr;
    int (*addressRange)(cuda::DevicePointer *base, std::size_t *bytes, cuda::DevicePointer address) = nullptr;
    int (*memoryAllocate)(cuda::DevicePointer *address, std::size_t bytes) = nullptr;
    int (*memoryFree)(cuda::DevicePointer address) = nullptr;
    int (*ipcGetHandle)(cuda::IpcMemoryHandle *handle, cuda::DevicePointer address) = nullptr;
    int (*copyToHost)(void *to, cuda::DevicePointer from, std::size_t bytes) = nullptr;
    int (*copyToDevice)(cuda::DevicePointer to, const void *from, std::size_t bytes) = nullptr;
    int (*moduleLoad)(cuda::Module *module, const void *image, unsigned count, int *options,
                      void **values) = nullptr;
    int (*moduleUnload)(cuda::Module module) = nullptr;
    int (*moduleGetFunction)(cuda::Function *function, cuda::Module module, const char *name) = nullptr;
    int (*launchKernel)(cuda::Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        cuda::Stream stream, void **parameters, void **extra) = nullptr;
    int (*errorName)(int status, const char **name) = nullptr;
    int (*errorText)(int status, const char **text) = nullptr;

private:
    std::string m_library;
};

/// A device's primary context, made current in the calling thread; released when destroyed. Not thread-safe.
class CudaContext {
public:
    /// Calls cuInit. Errors: Environment (no driver, no device), those of CudaApi::check.
    static Result<CudaContext> open(const CudaApi &api, int ordinal);

    const CudaApi &api() const { return *m_api; }
    int device() const { return m_device; }
    Result<std::string> deviceName() const;
    Result<int> attribute(cuda::DeviceAttribute attribute) const;
    Result<void> synchronise() const;

private:
    CudaContext() = default;

    std::shared_ptr<const CudaApi> m_api;
    std::shared_ptr<void> m_context;
    int m_device = 0;
};

} // namespace heddle
