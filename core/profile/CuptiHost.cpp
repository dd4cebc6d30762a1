// SPDX-License-Identifier: Apache-2.0
#include "core/profile/CuptiHost.h"

#include "core/base/Symbol.h"

#include <dlfcn.h>

#include <cstdint>

namespace heddle {

namespace fs = std::filesystem;

namespace {

// The part of CUPTI's profiler host interface that is used, as of CUDA 13.0 (see README.md). Each structure begins with its
// own size and a pointer that stays null.
struct Head {
    std::size_t size = 0;
    void *reserved = nullptr;
};
struct SupportedChips {
    Head head;
    std::size_t count = 0;
    const char *const *names = nullptr;
};
struct Initialize {
    Head head;
    int profiler = 0; ///< the range profiler
    const char *chip = nullptr;
    const std::uint8_t *availability = nullptr;
    void *object = nullptr;
};
struct Deinitialize {
    Head head;
    void *object = nullptr;
};
struct BaseMetrics {
    Head head;
    void *object = nullptr;
    int type = 0; ///< counter, ratio, throughput
    const char **names = nullptr;
    std::size_t count = 0;
};
struct AddMetrics {
    Head head;
    void *object = nullptr;
    const char **names = nullptr;
    std::size_t count = 0;
};
struct ConfigSize {
    Head head;
    void *object = nullptr;
    std::size_t bytes = 0;
};
struct ConfigImage {
    Head head;
    void *object = nullptr;
    std::size_t bytes = 0;
    std::uint8_t *image = nullptr;
};
struct PassCount {
    Head head;
    std::size_t bytes = 0;
    std::uint8_t *image = nullptr;
    std::size_t passes = 0;
};
static_assert(sizeof(Initialize) == 48 && sizeof(BaseMetrics) == 48 && sizeof(PassCount) == 40);

constexpr int metricTypes = 3;
constexpr int invalidChip = 46; // CUPTI_ERROR_INVALID_CHIP_NAME

template<typename Parameters>
Parameters sized()
{
    Parameters parameters;
    parameters.head.size = sizeof parameters;
    return parameters;
}

} // namespace

struct CuptiHost::Library {
    void *handle = nullptr;
    fs::path path;
    int (*version)(std::uint32_t *) = nullptr;
    int (*supportedChips)(SupportedChips *) = nullptr;
    int (*initialize)(Initialize *) = nullptr;
    int (*deinitialize)(Deinitialize *) = nullptr;
    int (*baseMetrics)(BaseMetrics *) = nullptr;
    int (*addMetrics)(AddMetrics *) = nullptr;
    int (*configSize)(ConfigSize *) = nullptr;
    int (*configImage)(ConfigImage *) = nullptr;
    int (*passCount)(PassCount *) = nullptr;

    // Not closed: CUPTI leaves handlers behind that run at exit.
    bool load(const fs::path &file)
    {
        path = file;
        handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        return handle != nullptr && bindSymbol(handle, "cuptiGetVersion", version)
            && bindSymbol(handle, "cuptiProfilerHostGetSupportedChips", supportedChips)
            && bindSymbol(handle, "cuptiProfilerHostInitialize", initialize)
            && bindSymbol(handle, "cuptiProfilerHostDeinitialize", deinitialize)
            && bindSymbol(handle, "cuptiProfilerHostGetBaseMetrics", baseMetrics)
            && bindSymbol(handle, "cuptiProfilerHostConfigAddMetrics", addMetrics)
            && bindSymbol(handle, "cuptiProfilerHostGetConfigImageSize", configSize)
            && bindSymbol(handle, "cuptiProfilerHostGetConfigImage", configImage)
            && bindSymbol(handle, "cuptiProfilerHostGetNumOfPasses", passCount);
    }

    /// Calls `work(object)` with a profiler object for the chip.
    template<typename Work>
    auto with(const std::string &chip, const Work &work) const -> decltype(work(nullptr))
    {
        auto opened = sized<Initialize>();
        opened.chip = chip.c_str();
        if (const int code = initialize(&opened); code != 0)
            return Error(Code::InvalidInput,
                         (code == invalidChip ? "CUPTI does not know the chip " + chip
                                              : "CUPTI can't be asked here, perhaps for want of a driver")
                             + " (error " + std::to_string(code) + ')',
                         path.string());
        auto result = work(opened.object);
        auto closed = sized<Deinitialize>();
        closed.object = opened.object;
        deinitialize(&closed);
        return result;
    }
};

CuptiHost::CuptiHost(std::unique_ptr<Library> library) : m_library(std::move(library)) {}
CuptiHost::CuptiHost(CuptiHost &&) noexcept = default;
CuptiHost &CuptiHost::operator=(CuptiHost &&) noexcept = default;
CuptiHost::~CuptiHost() = default;

Result<CuptiHost> CuptiHost::open(const fs::path &file)
{
    auto library = std::make_unique<Library>();
    if (!library->load(file))
        return Error(Code::Environment, "it is no libcupti of CUDA 13", file.string());
    return CuptiHost(std::move(library));
}

const fs::path &CuptiHost::library() const { return m_library->path; }

std::string CuptiHost::version() const
{
    // 130001 is CUDA 13.0's second.
    std::uint32_t number = 0;
    m_library->version(&number);
    return std::to_string(number / 10000) + '.' + std::to_string(number / 100 % 100);
}

Result<std::vector<std::string>> CuptiHost::chips() const
{
    auto supported = sized<SupportedChips>();
    if (const int code = m_library->supportedChips(&supported); code != 0)
        return Error(Code::Environment,
                     "CUPTI does not say which chips it knows (error " + std::to_string(code) + ')',
                     m_library->path.string(), "libnvperf_host.so must lie beside libcupti.so");
    return std::vector<std::string>(supported.names, supported.names + supported.count);
}

Result<std::set<std::string>> CuptiHost::metrics(const std::string &chip) const
{
    return m_library->with(chip, [&](void *object) -> Result<std::set<std::string>> {
        std::set<std::string> names;
        for (int type = 0; type < metricTypes; ++type) {
            auto base = sized<BaseMetrics>();
            base.object = object;
            base.type = type;
            if (const int code = m_library->baseMetrics(&base); code != 0)
                return Error(Code::Environment,
                             "CUPTI does not list the metrics of " + chip + " (error " + std::to_string(code)
                                 + ')',
                             m_library->path.string());
            names.insert(base.names, base.names + base.count);
        }
        return names;
    });
}

Result<int> CuptiHost::passes(const std::string &chip, const std::vector<std::string> &metrics) const
{
    return m_library->with(chip, [&](void *object) -> Result<int> {
        const auto failed = [&](const char *what, int code) {
            return Error(Code::InvalidInput,
                         std::string("CUPTI can't ") + what + " for " + chip + " (error "
                             + std::to_string(code) + ')',
                         m_library->path.string());
        };
        std::vector<const char *> names;
        for (const std::string &metric : metrics)
            names.push_back(metric.c_str());
        auto add = sized<AddMetrics>();
        add.object = object;
        add.names = names.data();
        add.count = names.size();
        if (const int code = m_library->addMetrics(&add); code != 0)
            return failed("collect this set of metrics", code);
        auto size = sized<ConfigSize>();
        size.object = object;
        if (const int code = m_library->configSize(&size); code != 0)
            return failed("plan this set of metrics", code);
        std::vector<std::uint8_t> bytes(size.bytes);
        auto image = sized<ConfigImage>();
        image.object = object;
        image.bytes = bytes.size();
        image.image = bytes.data();
        if (const int code = m_library->configImage(&image); code != 0)
            return failed("plan this set of metrics", code);
        auto count = sized<PassCount>();
        count.bytes = bytes.size();
        count.image = bytes.data();
        if (const int code = m_library->passCount(&count); code != 0)
            return failed("count the passes of this set", code);
        return static_cast<int>(count.passes);
    });
}

} // namespace heddle
