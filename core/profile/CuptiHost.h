// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Result.h"

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace heddle {

/// The host side of CUPTI's range profiler: what could be measured on a chip, answered without one. In a process that may
/// die of it (heddle-counters): some versions crash where there is no driver. Movable; one thread at a time.
class CuptiHost {
public:
    /// Errors: Environment where the file is no such library.
    static Result<CuptiHost> open(const std::filesystem::path &file);

    CuptiHost(CuptiHost &&) noexcept;
    CuptiHost &operator=(CuptiHost &&) noexcept;
    ~CuptiHost();

    const std::filesystem::path &library() const;
    /// "13.0"
    std::string version() const;
    /// Chips that this library knows, by the names that cuptiDeviceGetChipName gives ("GH100").
    Result<std::vector<std::string>> chips() const;
    /// Every metric of a chip without its sub-metric ("dram__bytes"). Errors: InvalidInput for an unknown chip.
    Result<std::set<std::string>> metrics(const std::string &chip) const;
    /// How often a kernel runs to collect `metrics` ("dram__bytes.sum") together. Errors: InvalidInput where the chip or one of
    /// the metrics is unknown.
    Result<int> passes(const std::string &chip, const std::vector<std::string> &metrics) const;

private:
    struct Library;
    explicit CuptiHost(std::unique_ptr<Library> library);
    std::unique_ptr<Library> m_library;
};

} // namespace heddle
