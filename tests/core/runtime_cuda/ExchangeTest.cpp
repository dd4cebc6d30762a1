// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/cuda/ExchangeBuffer.h"
#include "core/runtime/cuda/ExchangeWay.h"
#include "tests/core/runtime_cuda/FakeDriver.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <cstdlib>

namespace heddle {

namespace {

constexpr std::uint64_t granule = 2u << 20;

class Exchange : public ::testing::Test {
protected:
    void SetUp() override
    {
        m_library = ::dlopen(HEDDLE_FAKE_CUDA, RTLD_NOW);
        ASSERT_NE(m_library, nullptr) << ::dlerror();
        find(m_reset, "heddle_fake_reset");
        find(m_calls, "heddle_fake_calls");
        find(m_fail, "heddle_fake_fail");
        find(m_live, "heddle_fake_live");
        m_reset();
        ASSERT_EQ(m_live(), 0) << "an earlier test left something allocated";
    }
    void TearDown() override
    {
        EXPECT_EQ(m_live(), 0) << "something stays allocated after: " << m_calls();
        ::dlclose(m_library);
    }

    static CudaApi api()
    {
        auto opened = CudaApi::open(HEDDLE_FAKE_CUDA);
        EXPECT_TRUE(opened) << opened.error().text();
        return opened.value();
    }
    static CudaContext context()
    {
        auto opened = CudaContext::open(api(), 0);
        EXPECT_TRUE(opened) << opened.error().text();
        return opened.value();
    }

    void (*m_reset)() = nullptr;
    const char *(*m_calls)() = nullptr;
    void (*m_fail)(const char *, int) = nullptr;
    int (*m_live)() = nullptr;

private:
    template<typename F>
    void find(F &function, const char *name)
    {
        function = reinterpret_cast<F>(::dlsym(m_library, name));
        ASSERT_NE(function, nullptr) << name;
    }
    void *m_library = nullptr;
};

} // namespace

TEST(CudaApi, aMachineWithoutADriverGetsAnErrorThatSaysWhatToDo)
{
    const auto opened = CudaApi::open("libheddle-no-such-driver.so.1");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::Environment);
    EXPECT_EQ(opened.error().where(), "libheddle-no-such-driver.so.1");
    EXPECT_NE(opened.error().next().find("driver"), std::string::npos);
}

TEST(CudaApi, aLibraryThatIsNoDriverIsRefusedByTheMissingFunction)
{
    const auto opened = CudaApi::open("libc.so.6");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::Environment);
    EXPECT_NE(opened.error().message().find("cuInit"), std::string::npos);
}

TEST_F(Exchange, errorsCarryCudasOwnNameAndTheRightKind)
{
    const CudaApi driver = api();
    const auto illegal = driver.check(cuda::illegalAddress, "wait");
    ASSERT_FALSE(illegal);
    EXPECT_EQ(illegal.error().code(), Code::Crashed);
    EXPECT_NE(illegal.error().message().find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
    EXPECT_EQ(driver.check(cuda::outOfMemory, "x").error().code(), Code::OutOfMemory);
    EXPECT_EQ(driver.check(cuda::notSupported, "x").error().code(), Code::Environment);
    EXPECT_EQ(driver.check(cuda::invalidValue, "x").error().code(), Code::InvalidInput);
    const auto unknown = driver.check(12345, "x");
    EXPECT_NE(unknown.error().message().find("12345"), std::string::npos);
    EXPECT_TRUE(driver.check(0, "x"));
}

TEST_F(Exchange, aDeviceThatIsNotThereIsAnErrorOfTheEnvironment)
{
    const auto opened = CudaContext::open(api(), 7);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::Environment);
}

TEST_F(Exchange, theContextIsReleasedWhenItsLastCopyHasGone)
{
    {
        const CudaContext first = context();
        const CudaContext second = first;
    }
    EXPECT_EQ(std::string(m_calls()),
              "cuInit cuDeviceGet cuDevicePrimaryCtxRetain cuCtxSetCurrent cuDevicePrimaryCtxRelease_v2");
}

TEST_F(Exchange, aBufferIsAnAllocationOfItsOwnInWholeGranules)
{
    const CudaContext device = context();
    m_reset();
    {
        auto buffer = ExchangeBuffer::create(device, granule + 1);
        ASSERT_TRUE(buffer) << buffer.error().text();
        EXPECT_EQ(buffer->bytes(), granule + 1);
        EXPECT_EQ(buffer->mappedBytes(), 2 * granule);
    }
    EXPECT_EQ(std::string(m_calls()),
              "cuMemGetAllocationGranularity cuMemCreate cuMemAddressReserve cuMemMap cuMemSetAccess "
              "cuMemUnmap cuMemAddressFree cuMemRelease");
}

TEST_F(Exchange, anImportedBufferIsTheSameMemoryAndOutlivesTheExporter)
{
    const CudaContext device = context();
    auto made = ExchangeBuffer::create(device, 100);
    ASSERT_TRUE(made);
    ASSERT_TRUE(made->write(0, "secret"));
    auto descriptor = made->exportDescriptor();
    ASSERT_TRUE(descriptor);
    EXPECT_NE(::fcntl(descriptor->value(), F_GETFD) & FD_CLOEXEC, 0);
    ImportTiming timing;
    auto imported = ExchangeBuffer::import(device, *descriptor, 100, &timing);
    ASSERT_TRUE(imported) << imported.error().text();
    EXPECT_NE(imported->address(), made->address());
    EXPECT_GT(timing.import.count(), 0);
    EXPECT_GT(timing.map.count(), 0);
    ASSERT_TRUE(imported->write(6, " answer"));
    EXPECT_EQ(made->read(0, 13).value(), "secret answer");
    descriptor->reset();
    {
        const ExchangeBuffer gone = std::move(*made);
    }
    EXPECT_EQ(imported->read(0, 13).value(), "secret answer");
}

TEST_F(Exchange, anotherProcessSeesTheBytesThroughTheDescriptor)
{
    const CudaContext device = context();
    auto made = ExchangeBuffer::create(device, 64);
    ASSERT_TRUE(made && made->write(0, "question"));
    auto descriptor = made->exportDescriptor();
    ASSERT_TRUE(descriptor);
    const pid_t child = ::fork();
    if (child == 0) {
        auto theirs = ExchangeBuffer::import(device, *descriptor, 64);
        const bool isSame =
            theirs && theirs->read(0, 8).value() == "question" && theirs->write(0, "reply").has_value();
        ::_exit(isSame ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(made->read(0, 5).value(), "reply");
}

TEST_F(Exchange, aClaimOfMoreBytesThanTheAllocationIsRefused)
{
    const CudaContext device = context();
    auto made = ExchangeBuffer::create(device, 100);
    ASSERT_TRUE(made);
    auto descriptor = made->exportDescriptor();
    ASSERT_TRUE(descriptor);
    const auto imported = ExchangeBuffer::import(device, *descriptor, granule + 1);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code(), Code::InvalidInput);
    EXPECT_NE(imported.error().message().find("map"), std::string::npos);
}

TEST_F(Exchange, aDescriptorThatIsNoAllocationIsRefused)
{
    const CudaContext device = context();
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto imported = ExchangeBuffer::import(device, null, 100);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code(), Code::InvalidInput);
    EXPECT_EQ(ExchangeBuffer::import(device, Fd(), 100).error().code(), Code::InvalidInput);
}

TEST_F(Exchange, nothingIsReadOrWrittenOutsideTheMapping)
{
    const CudaContext device = context();
    auto buffer = ExchangeBuffer::create(device, 100);
    ASSERT_TRUE(buffer);
    EXPECT_TRUE(buffer->read(granule - 1, 1));
    EXPECT_FALSE(buffer->read(granule, 1));
    EXPECT_FALSE(buffer->read(~0ull, 2));
    EXPECT_FALSE(buffer->write(granule - 1, "ab"));
}

TEST_F(Exchange, absurdSizesAreRefusedBeforeTheDriverIsAsked)
{
    const CudaContext device = context();
    for (const std::uint64_t bytes : {0ull, ~0ull}) {
        m_reset();
        const auto buffer = ExchangeBuffer::create(device, bytes);
        ASSERT_FALSE(buffer);
        EXPECT_EQ(buffer.error().code(), Code::InvalidInput);
        EXPECT_EQ(std::string(m_calls()), "");
    }
}

/// Whatever step fails, the error says so and nothing stays behind (TearDown looks).
class ExchangeFailure : public Exchange, public ::testing::WithParamInterface<const char *> {};

TEST_P(ExchangeFailure, leavesNothingBehindAndNamesTheError)
{
    const CudaContext device = context();
    auto donor = ExchangeBuffer::create(device, 100);
    ASSERT_TRUE(donor);
    auto descriptor = donor->exportDescriptor();
    ASSERT_TRUE(descriptor);
    const int before = m_live();
    m_fail(GetParam(), cuda::outOfMemory);
    const std::string step = GetParam();
    const auto made = ExchangeBuffer::create(device, 100);
    const auto imported = ExchangeBuffer::import(device, *descriptor, 100);
    const auto exported = donor->exportDescriptor();
    EXPECT_EQ(made.has_value(),
              step == "cuMemImportFromShareableHandle" || step == "cuMemExportToShareableHandle");
    EXPECT_EQ(imported.has_value(), step == "cuMemCreate" || step == "cuMemExportToShareableHandle");
    EXPECT_EQ(exported.has_value(), step != "cuMemExportToShareableHandle");
    const Error error = !made ? made.error() : (!imported ? imported.error() : exported.error());
    EXPECT_EQ(error.code(), Code::OutOfMemory);
    EXPECT_NE(error.message().find("CUDA_ERROR_OUT_OF_MEMORY"), std::string::npos);
    const int kept = (made ? 3 : 0) + (imported ? 3 : 0);
    EXPECT_EQ(m_live(), before + kept);
    m_fail(GetParam(), 0);
}

INSTANTIATE_TEST_SUITE_P(EachStep, ExchangeFailure,
                         ::testing::Values("cuMemGetAllocationGranularity", "cuMemCreate",
                                           "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess",
                                           "cuMemImportFromShareableHandle", "cuMemExportToShareableHandle"));

TEST_F(Exchange, descriptorsAreTheFirstChoice)
{
    const ExchangeReport report = probeExchange(context());
    EXPECT_EQ(report.way, ExchangeWay::FileDescriptor);
    EXPECT_TRUE(report.reasons.empty());
    EXPECT_EQ(report.toJson().at("way"), "file_descriptor");
}

TEST_F(Exchange, withoutDescriptorsLegacyIpcIsChosenAndTheReasonIsGiven)
{
    const CudaContext device = context();
    m_fail("attribute:103", 1);
    ExchangeReport report = probeExchange(device);
    EXPECT_EQ(report.way, ExchangeWay::LegacyIpc);
    ASSERT_EQ(report.reasons.size(), 1u);
    EXPECT_NE(report.reasons[0].find("no file descriptors"), std::string::npos) << report.reasons[0];
    m_reset();
    m_fail("cuMemExportToShareableHandle", cuda::notSupported);
    report = probeExchange(device);
    EXPECT_EQ(report.way, ExchangeWay::LegacyIpc);
    EXPECT_NE(report.reasons.at(0).find("CUDA_ERROR_NOT_SUPPORTED"), std::string::npos) << report.reasons[0];
}

TEST_F(Exchange, withoutEitherHostMemoryIsLeft)
{
    const CudaContext device = context();
    m_fail("cuMemCreate", cuda::notSupported);
    m_fail("cuIpcGetMemHandle", cuda::notSupported);
    const ExchangeReport report = probeExchange(device);
    EXPECT_EQ(report.way, ExchangeWay::HostMemory);
    EXPECT_EQ(report.reasons.size(), 2u);
}

} // namespace heddle
