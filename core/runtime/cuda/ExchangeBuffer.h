// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Fd.h"
#include "core/runtime/cuda/CudaApi.h"

#include <chrono>
#include <string>

namespace heddle {

/// What the steps of an import cost.
struct ImportTiming {
    std::chrono::nanoseconds import{}; ///< descriptor to handle
    std::chrono::nanoseconds map{};    ///< address range reserved and mapped
    std::chrono::nanoseconds access{}; ///< readable and writable
};

/// Device memory that two processes share: one physical allocation of its own (cuMemCreate), which travels as a file
/// descriptor, so that the other side gets these bytes and no neighbours. Unmapped and released when destroyed; the other
/// process's mapping keeps the memory alive. The context must outlive it and be current where it is used. Not thread-safe.
class ExchangeBuffer {
public:
    /// At least `bytes` of device memory, rounded up to the device's granularity (2 MiB), mapped readable and writable.
    /// Content is undefined: fill all mappedBytes(). Errors: InvalidInput for 0 bytes, those of CudaApi::check.
    static Result<ExchangeBuffer> create(const CudaContext &context, std::uint64_t bytes);

    /// Maps the allocation behind `descriptor`, made by create() elsewhere with the same `bytes`. The descriptor may be closed
    /// afterwards. Errors: InvalidInput when it is no allocation or a smaller one, those of CudaApi::check.
    static Result<ExchangeBuffer> import(const CudaContext &context, const Fd &descriptor,
                                         std::uint64_t bytes, ImportTiming *timing = nullptr);

    ExchangeBuffer(ExchangeBuffer &&other) noexcept;
    ExchangeBuffer &operator=(ExchangeBuffer &&other) noexcept;
    ExchangeBuffer(const ExchangeBuffer &) = delete;
    ExchangeBuffer &operator=(const ExchangeBuffer &) = delete;
    ~ExchangeBuffer();

    /// A descriptor that another process can import; close-on-exec. Errors: those of CudaApi::check.
    Result<Fd> exportDescriptor() const;

    /// Of the whole allocation; borrowed.
    cuda::AllocationHandle handle() const { return m_handle; }
    cuda::DevicePointer address() const { return m_address; }
    std::uint64_t bytes() const { return m_bytes; }             ///< as asked for
    std::uint64_t mappedBytes() const { return m_mappedBytes; } ///< whole allocation and mapping

    /// Copies between host and device, within bytes(); waits. Errors: InvalidInput outside the buffer.
    Result<std::string> read(std::uint64_t offset, std::uint64_t count) const;
    Result<void> write(std::uint64_t offset, const std::string &content) const;

    /// `bytes` rounded up to what the device allocates. Errors: InvalidInput for 0 or an absurd size.
    static Result<std::uint64_t> roundedBytes(const CudaContext &context, std::uint64_t bytes);

private:
    ExchangeBuffer(const CudaContext &context, std::uint64_t bytes);
    Result<void> map(ImportTiming *timing);
    void release();

    CudaContext m_context;
    std::uint64_t m_bytes = 0;
    std::uint64_t m_mappedBytes = 0;
    cuda::AllocationHandle m_handle = 0;
    cuda::DevicePointer m_address = 0;
    bool m_hasHandle = false;
    bool m_isMapped = false;
};

} // namespace heddle
