// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <cstring>

namespace heddle {

/// Sets `function` to the symbol `name` of a library that dlopen() gave. False, and null, where it has none.
template<typename Function>
bool bindSymbol(void *library, const char *name, Function &function)
{
    void *symbol = ::dlsym(library, name);
    static_assert(sizeof function == sizeof symbol);
    std::memcpy(&function, &symbol, sizeof function);
    return symbol != nullptr;
}

} // namespace heddle
