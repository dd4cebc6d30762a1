// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFont>

class QsciScintilla;

namespace heddle {

enum class Language;
struct Theme;

/// The fixed-width font of the desktop at the size for code; without one, at the application's size.
QFont codeFont();
/// The size of code in points, for the whole application. Views take it up with their next FontChange event.
void setCodeFontSize(int points);

/// Numbers of the markers and annotation styles that diagnostics use.
namespace editorMarker {
constexpr int error = 1;
constexpr int warning = 2;
constexpr int note = 3;
constexpr int annotationError = 60;
constexpr int annotationWarning = 61;
constexpr int annotationNote = 62;
} // namespace editorMarker

/// Gives every style, margin, caret, selection, brace and marker of the editor its colour and font.
/// Must be called again after each change of palette, lexer or zoom.
void applyEditorStyle(QsciScintilla &editor, Language language, const Theme &theme, const QFont &font);

} // namespace heddle
