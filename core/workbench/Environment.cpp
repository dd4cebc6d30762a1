// SPDX-License-Identifier: Apache-2.0
#include "core/base/Places.h"
#include "core/workbench/Workbench.h"

#include <cstdlib>

namespace heddle {

Environment Environment::fromProgram()
{
    Environment environment;
    if (auto worker = ownProgram("heddle-worker"))
        environment.worker = std::move(*worker);
    if (auto package = packageFolder())
        environment.package = std::move(*package);
    if (auto resources = resourcesFolder())
        environment.resources = std::move(*resources);
    if (const char *python = std::getenv("HEDDLE_PYTHON"); python != nullptr)
        environment.python = python;
    return environment;
}

} // namespace heddle
