// SPDX-License-Identifier: Apache-2.0
// heddle-optimize-graph GRAPH OUTDIR [--separate]: writes the built-in optimiser's candidate for a captured
// graph. Exit code 0: written, with the fusion plan on stdout; 4: not covered; 2: bad input.
#include "core/optimizer/Candidate.h"

#include <cstdio>
#include <string_view>

int main(int count, char **arguments)
{
    if (count < 3) {
        std::fputs("usage: heddle-optimize-graph GRAPH OUTDIR [--separate]\n", stderr);
        return 2;
    }
    const auto report = [](const heddle::Error &error) {
        std::fprintf(stderr, "%s\n", error.text().c_str());
        return error.code() == heddle::Code::NotCovered ? 4 : 2;
    };
    const bool isSeparate = count > 3 && std::string_view(arguments[3]) == "--separate";
    const auto text = heddle::readFile(arguments[1]);
    if (!text)
        return report(text.error());
    const auto graph = heddle::parseJson(*text, arguments[1]);
    if (!graph)
        return report(graph.error());
    const auto mode = isSeparate ? heddle::FusionMode::Separate : heddle::FusionMode::Full;
    const auto candidate = heddle::candidateForGraph(*graph, mode);
    if (!candidate)
        return report(candidate.error());
    if (const auto written = heddle::writeTree(arguments[2], candidate->files); !written)
        return report(written.error());
    std::fputs(candidate->plan.text().c_str(), stdout);
    return 0;
}
