// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/probe/Overreach.h"

namespace heddle {

namespace {

void note(Json &rows, const char *attempt, bool isHeld, const Result<void> &result)
{
    rows.push_back(Json{{"attempt", attempt},
                        {"held", isHeld},
                        {"detail", result ? std::string("it worked") : result.error().message()}});
}

void noteAttempt(Json &rows, const char *attempt, const Result<void> &result)
{
    note(rows, attempt, !result.has_value(), result);
}

void noteControl(Json &rows, const char *attempt, const Result<void> &result)
{
    note(rows, attempt, result.has_value(), result);
}

/// Fresh addresses with some of an allocation mapped at their start; undone when destroyed.
class Mapping {
public:
    Mapping(const CudaContext &context, std::uint64_t reserved) : m_context(context), m_reserved(reserved) {}
    Mapping(const Mapping &) = delete;
    Mapping &operator=(const Mapping &) = delete;
    ~Mapping()
    {
        const CudaApi &api = m_context.api();
        if (m_mapped != 0)
            api.memoryUnmap(m_address, m_mapped);
        if (m_address != 0)
            api.addressFree(m_address, m_reserved);
    }

    Result<void> map(cuda::AllocationHandle handle, std::uint64_t offset, std::uint64_t bytes)
    {
        const CudaApi &api = m_context.api();
        HEDDLE_CHECK_OK(api.check(api.addressReserve(&m_address, m_reserved, 0, 0, 0), "reserve addresses"));
        HEDDLE_CHECK_OK(api.check(api.memoryMap(m_address, bytes, offset, handle, 0), "map"));
        m_mapped = bytes;
        cuda::AccessDescription access;
        access.location.id = m_context.device();
        return api.check(api.memorySetAccess(m_address, bytes, &access, 1), "get access");
    }

    cuda::DevicePointer address() const { return m_address; }

private:
    CudaContext m_context;
    std::uint64_t m_reserved;
    std::uint64_t m_mapped = 0;
    cuda::DevicePointer m_address = 0;
};

Result<void> tryMapping(const CudaContext &context, const ExchangeBuffer &buffer, std::uint64_t offset,
                        std::uint64_t bytes)
{
    return Mapping(context, bytes).map(buffer.handle(), offset, bytes);
}

} // namespace

Result<Json> tryOverreach(const CudaContext &context, const ExchangeBuffer &buffer, cuda::Function readKernel)
{
    Json rows = Json::array();
    const CudaApi &api = context.api();
    const std::uint64_t size = buffer.mappedBytes();
    // The control: the same steps with the true size, so that a refusal below is about the size.
    noteControl(rows, "control: map the buffer a second time", tryMapping(context, buffer, 0, size));
    noteAttempt(rows, "map twice the buffer's size", tryMapping(context, buffer, 0, 2 * size));
    noteAttempt(rows, "map what follows the buffer", tryMapping(context, buffer, size, size));

    // A mapping whose next addresses are reserved for it and empty: elsewhere another buffer of ours could follow.
    Mapping mapping(context, 2 * size);
    HEDDLE_CHECK_OK(mapping.map(buffer.handle(), 0, size));
    HEDDLE_TRY(const ExchangeBuffer word, ExchangeBuffer::create(context, sizeof(std::uint32_t)));
    const auto read = [&](std::uint64_t offset) -> Result<void> {
        cuda::DevicePointer from = mapping.address() + offset;
        cuda::DevicePointer to = word.address();
        void *arguments[] = {&from, &to};
        HEDDLE_CHECK_OK(api.check(
            api.launchKernel(readKernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr), "launch"));
        return context.synchronise();
    };
    noteControl(rows, "control: a kernel reads the last word", read(size - sizeof(std::uint32_t)));
    char bytes[4] = {};
    noteAttempt(rows, "copy from past the end",
                api.check(api.copyToHost(bytes, mapping.address() + size, sizeof bytes), "copy"));
    noteAttempt(rows, "a kernel reads past the end", read(size));
    return rows;
}

} // namespace heddle
