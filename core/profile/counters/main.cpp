// SPDX-License-Identifier: Apache-2.0
// heddle-counters CHIP LIBRARY: prints what can be measured on a chip (core/profile/MetricSets.h) as one line of JSON, or the
// error, and ends. A process of its own, since a libcupti that finds no driver may not survive being asked.
#include "core/profile/MetricSets.h"

#include <unistd.h>

#include <cstdio>

namespace {

using namespace heddle;

Result<Json> answer(const std::string &chip, const std::string &library)
{
    HEDDLE_TRY(const CuptiHost host, CuptiHost::open(library));
    HEDDLE_TRY(const std::vector<MetricSet> sets, metricSets(host, chip));
    return toJson(host, chip, sets);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fputs("usage: heddle-counters CHIP LIBRARY\n", stderr);
        return 2;
    }
    const auto said = answer(argv[1], argv[2]);
    std::printf("%s\n", compactText(said ? *said : toJson(said.error())).c_str());
    std::fflush(stdout);
    // CUPTI leaves handlers behind that run at exit.
    ::_exit(said ? 0 : 3);
}
