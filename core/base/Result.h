// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/Error.h"

#include <type_traits>
#include <utility>
#include <variant>

namespace heddle {

/// A value or an Error. Member names are those of std::expected, so that C++23 is a rename.
template<typename T>
class [[nodiscard]] Result {
public:
    using value_type = T;

    Result(T value) : m_state(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return m_state.index() == 0; }
    explicit operator bool() const { return has_value(); }

    T &value() & { return std::get<0>(m_state); }
    const T &value() const & { return std::get<0>(m_state); }
    T &&value() && { return std::get<0>(std::move(m_state)); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T &&operator*() && { return std::move(*this).value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }

    const Error &error() const & { return std::get<1>(m_state); }
    Error &&error() && { return std::get<1>(std::move(m_state)); }

private:
    std::variant<T, Error> m_state;
};

/// Success without a value, or an Error. `return {};` is success.
template<>
class [[nodiscard]] Result<void> {
public:
    using value_type = void;

    Result() = default;
    Result(Error error) : m_state(std::in_place_index<1>, std::move(error)) {}

    bool has_value() const { return m_state.index() == 0; }
    explicit operator bool() const { return has_value(); }
    const Error &error() const & { return std::get<1>(m_state); }
    Error &&error() && { return std::get<1>(std::move(m_state)); }

private:
    std::variant<std::monostate, Error> m_state;
};

} // namespace heddle

#define HEDDLE_CONCAT_INNER(a, b) a##b
#define HEDDLE_CONCAT(a, b) HEDDLE_CONCAT_INNER(a, b)
#define HEDDLE_TRY_INNER(name, decl, expr)                                                                   \
    auto name = (expr);                                                                                      \
    if (!name)                                                                                               \
        return std::move(name).error();                                                                      \
    decl = std::move(name).value()
/// HEDDLE_TRY(const auto file, open(path)); returns the error to the caller, else declares `file`.
#define HEDDLE_TRY(decl, expr) HEDDLE_TRY_INNER(HEDDLE_CONCAT(heddleTry, __COUNTER__), decl, expr)
/// HEDDLE_CHECK_OK(write(path)); returns the error to the caller, discards nothing else.
#define HEDDLE_CHECK_OK(expr)                                                                                \
    do {                                                                                                     \
        auto heddleChecked = (expr);                                                                         \
        if (!heddleChecked)                                                                                  \
            return std::move(heddleChecked).error();                                                         \
    } while (false)
