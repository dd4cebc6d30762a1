// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/ExchangeBuffer.h"

#include <fcntl.h>

#include <utility>

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;

// More than any device has; keeps the rounding below from overflowing.
constexpr std::uint64_t absurdBytes = 1ull << 44;

cuda::AllocationProperties propertiesOf(const CudaContext &context)
{
    cuda::AllocationProperties properties;
    properties.location.id = context.device();
    return properties;
}

} // namespace

Result<std::uint64_t> ExchangeBuffer::roundedBytes(const CudaContext &context, std::uint64_t bytes)
{
    if (bytes == 0 || bytes > absurdBytes)
        return Error(Code::InvalidInput,
                     "an exchange buffer cannot have " + std::to_string(bytes) + " bytes");
    const CudaApi &api = context.api();
    const cuda::AllocationProperties properties = propertiesOf(context);
    std::size_t granularity = 0;
    HEDDLE_CHECK_OK(api.check(api.memoryGranularity(&granularity, &properties, cuda::minimumGranularity),
                              "ask for the granularity of device memory"));
    if (granularity == 0)
        return Error(Code::Environment, "the driver gives a granularity of 0 bytes");
    return (bytes + granularity - 1) / granularity * granularity;
}

ExchangeBuffer::ExchangeBuffer(const CudaContext &context, std::uint64_t bytes)
    : m_context(context), m_bytes(bytes)
{
}

Result<ExchangeBuffer> ExchangeBuffer::create(const CudaContext &context, std::uint64_t bytes)
{
    ExchangeBuffer buffer(context, bytes);
    HEDDLE_TRY(buffer.m_mappedBytes, roundedBytes(context, bytes));
    const CudaApi &api = context.api();
    const cuda::AllocationProperties properties = propertiesOf(context);
    HEDDLE_CHECK_OK(api.check(api.memoryCreate(&buffer.m_handle, buffer.m_mappedBytes, &properties, 0),
                              "allocate an exchange buffer"));
    buffer.m_hasHandle = true;
    HEDDLE_CHECK_OK(buffer.map(nullptr));
    return buffer;
}

Result<ExchangeBuffer> ExchangeBuffer::import(const CudaContext &context, const Fd &descriptor,
                                              std::uint64_t bytes, ImportTiming *timing)
{
    if (!descriptor.isOpen())
        return Error(Code::InvalidInput, "no descriptor came for an exchange buffer");
    ExchangeBuffer buffer(context, bytes);
    HEDDLE_TRY(buffer.m_mappedBytes, roundedBytes(context, bytes));
    const CudaApi &api = context.api();
    const auto start = Clock::now();
    // The interface takes the descriptor's number in the place of a pointer.
    void *shareable = reinterpret_cast<void *>(static_cast<std::intptr_t>(descriptor.value()));
    HEDDLE_CHECK_OK(api.check(api.memoryImport(&buffer.m_handle, shareable, cuda::fileDescriptorHandle),
                              "import an exchange buffer"));
    buffer.m_hasHandle = true;
    if (timing != nullptr)
        timing->import = Clock::now() - start;
    HEDDLE_CHECK_OK(buffer.map(timing));
    return buffer;
}

Result<void> ExchangeBuffer::map(ImportTiming *timing)
{
    const CudaApi &api = m_context.api();
    const auto start = Clock::now();
    HEDDLE_CHECK_OK(
        api.check(api.addressReserve(&m_address, m_mappedBytes, 0, 0, 0), "reserve device addresses"));
    HEDDLE_CHECK_OK(
        api.check(api.memoryMap(m_address, m_mappedBytes, 0, m_handle, 0), "map an exchange buffer"));
    m_isMapped = true;
    const auto mapped = Clock::now();
    cuda::AccessDescription access;
    access.location.id = m_context.device();
    HEDDLE_CHECK_OK(api.check(api.memorySetAccess(m_address, m_mappedBytes, &access, 1),
                              "get access to an exchange buffer"));
    if (timing != nullptr) {
        timing->map = mapped - start;
        timing->access = Clock::now() - mapped;
    }
    return {};
}

Result<Fd> ExchangeBuffer::exportDescriptor() const
{
    const CudaApi &api = m_context.api();
    int fd = -1;
    HEDDLE_CHECK_OK(api.check(api.memoryExport(&fd, m_handle, cuda::fileDescriptorHandle, 0),
                              "export an exchange buffer"));
    if (fd < 0)
        return Error(Code::Environment, "the driver exported no descriptor");
    Fd owned(fd);
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return owned;
}

Result<std::string> ExchangeBuffer::read(std::uint64_t offset, std::uint64_t count) const
{
    if (offset > m_mappedBytes || count > m_mappedBytes - offset)
        return Error(Code::InvalidInput, "a read leaves the exchange buffer");
    std::string content(count, '\0');
    const CudaApi &api = m_context.api();
    if (count > 0)
        HEDDLE_CHECK_OK(
            api.check(api.copyToHost(content.data(), m_address + offset, count), "read an exchange buffer"));
    return content;
}

Result<void> ExchangeBuffer::write(std::uint64_t offset, const std::string &content) const
{
    if (offset > m_mappedBytes || content.size() > m_mappedBytes - offset)
        return Error(Code::InvalidInput, "a write leaves the exchange buffer");
    const CudaApi &api = m_context.api();
    if (content.empty())
        return {};
    return api.check(api.copyToDevice(m_address + offset, content.data(), content.size()),
                     "write an exchange buffer");
}

void ExchangeBuffer::release()
{
    // What fails here fails because the context is lost, and then the driver has freed all of it.
    const bool hasAnything = m_address != 0 || m_hasHandle;
    if (!hasAnything)
        return;
    const CudaApi &api = m_context.api();
    if (m_isMapped)
        api.memoryUnmap(m_address, m_mappedBytes);
    if (m_address != 0)
        api.addressFree(m_address, m_mappedBytes);
    if (m_hasHandle)
        api.memoryRelease(m_handle);
    m_isMapped = m_hasHandle = false;
    m_address = 0;
}

ExchangeBuffer::ExchangeBuffer(ExchangeBuffer &&other) noexcept
    : m_context(other.m_context),
      m_bytes(other.m_bytes),
      m_mappedBytes(other.m_mappedBytes),
      m_handle(other.m_handle),
      m_address(std::exchange(other.m_address, 0)),
      m_hasHandle(std::exchange(other.m_hasHandle, false)),
      m_isMapped(std::exchange(other.m_isMapped, false))
{
}

ExchangeBuffer &ExchangeBuffer::operator=(ExchangeBuffer &&other) noexcept
{
    if (this != &other) {
        release();
        m_context = other.m_context;
        m_bytes = other.m_bytes;
        m_mappedBytes = other.m_mappedBytes;
        m_handle = other.m_handle;
        m_address = std::exchange(other.m_address, 0);
        m_hasHandle = std::exchange(other.m_hasHandle, false);
        m_isMapped = std::exchange(other.m_isMapped, false);
    }
    return *this;
}

ExchangeBuffer::~ExchangeBuffer() { release(); }

} // namespace heddle
