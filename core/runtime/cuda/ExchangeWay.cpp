// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/ExchangeWay.h"

#include "core/runtime/cuda/ExchangeBuffer.h"

namespace heddle {

std::string_view exchangeWayName(ExchangeWay way)
{
    switch (way) {
    case ExchangeWay::FileDescriptor: return "file_descriptor";
    case ExchangeWay::LegacyIpc: return "legacy_ipc";
    case ExchangeWay::HostMemory: return "host_memory";
    }
    return "host_memory";
}

namespace {

constexpr std::uint64_t trialBytes = 4096;

Result<void> requireAttribute(const CudaContext &context, cuda::DeviceAttribute attribute, const char *words)
{
    HEDDLE_TRY(const int value, context.attribute(attribute));
    if (value == 0)
        return Error(Code::Environment, std::string("the device has no ") + words);
    return {};
}

/// Writes through one mapping and reads through the other: the same memory, not only two calls that succeed.
Result<void> tryDescriptors(const CudaContext &context)
{
    HEDDLE_CHECK_OK(requireAttribute(context, cuda::virtualMemorySupported, "virtual memory management"));
    HEDDLE_CHECK_OK(requireAttribute(context, cuda::fileDescriptorSupported, "file descriptors for memory"));
    HEDDLE_TRY(const ExchangeBuffer made, ExchangeBuffer::create(context, trialBytes));
    HEDDLE_TRY(const Fd descriptor, made.exportDescriptor());
    HEDDLE_TRY(const ExchangeBuffer imported, ExchangeBuffer::import(context, descriptor, trialBytes));
    const std::string content = "the same bytes on both sides";
    HEDDLE_CHECK_OK(made.write(0, content));
    HEDDLE_TRY(const std::string seen, imported.read(0, content.size()));
    if (seen != content)
        return Error(Code::Environment, "an imported buffer shows other bytes than the exported one");
    return {};
}

Result<void> tryLegacyIpc(const CudaContext &context)
{
    HEDDLE_CHECK_OK(requireAttribute(context, cuda::unifiedAddressing, "unified addressing"));
    const CudaApi &api = context.api();
    cuda::DevicePointer address = 0;
    HEDDLE_CHECK_OK(api.check(api.memoryAllocate(&address, trialBytes), "allocate device memory"));
    cuda::IpcMemoryHandle handle;
    auto result = api.check(api.ipcGetHandle(&handle, address), "get an IPC handle");
    api.memoryFree(address);
    return result;
}

} // namespace

ExchangeReport probeExchange(const CudaContext &context)
{
    ExchangeReport report;
    const auto descriptors = tryDescriptors(context);
    if (descriptors) {
        report.way = ExchangeWay::FileDescriptor;
        return report;
    }
    report.reasons.push_back("file descriptors: " + descriptors.error().message());
    const auto legacy = tryLegacyIpc(context);
    if (legacy) {
        report.way = ExchangeWay::LegacyIpc;
        return report;
    }
    report.reasons.push_back("legacy IPC: " + legacy.error().message());
    return report;
}

Json ExchangeReport::toJson() const { return Json{{"way", exchangeWayName(way)}, {"reasons", reasons}}; }

} // namespace heddle
