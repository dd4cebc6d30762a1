// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <filesystem>
#include <string>
#include <string_view>

namespace heddle {

/// UTF-8 of the core as text of the window; invalid bytes become U+FFFD.
QString toText(std::string_view utf8);
QString pathText(const std::filesystem::path &path);

/// Several lines in one: the first and the last, which say of a traceback what happened and why.
QString oneLine(const QString &text);

/// Text of the window as UTF-8 of the core.
std::string toUtf8(const QString &text);
std::filesystem::path toPath(const QString &text);

} // namespace heddle
