// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/EditorStyle.h"

#include "widgets/common/Theme.h"
#include "widgets/editor/CodeEditor.h"

#include <QApplication>
#include <QFontDatabase>
#include <Qsci/qscilexercpp.h>
#include <Qsci/qscilexerjson.h>
#include <Qsci/qscilexerpython.h>
#include <Qsci/qsciscintilla.h>

#include <initializer_list>

namespace heddle {

namespace {

/// Where the application keeps the size, so that every view reads the same and none owns it.
constexpr const char *codeSizeProperty = "heddleCodePoints";

void color(QsciLexer &lexer, const QColor &ink, std::initializer_list<int> styles)
{
    for (const int style : styles)
        lexer.setColor(ink, style);
}

void colorPython(QsciLexer &lexer, const Theme &theme)
{
    using P = QsciLexerPython;
    color(lexer, theme.keyword, {P::Keyword});
    color(lexer, theme.comment, {P::Comment, P::CommentBlock});
    color(lexer, theme.number, {P::Number});
    color(lexer, theme.string,
          {P::SingleQuotedString, P::DoubleQuotedString, P::TripleSingleQuotedString,
           P::TripleDoubleQuotedString, P::SingleQuotedFString, P::DoubleQuotedFString,
           P::TripleSingleQuotedFString, P::TripleDoubleQuotedFString, P::UnclosedString});
    color(lexer, theme.function, {P::ClassName, P::FunctionMethodName});
    color(lexer, theme.decorator, {P::Decorator});
    color(lexer, theme.operatorSign, {P::Operator});
}

void colorCpp(QsciLexer &lexer, const Theme &theme)
{
    using C = QsciLexerCPP;
    color(lexer, theme.keyword, {C::Keyword, C::KeywordSet2});
    color(lexer, theme.comment,
          {C::Comment, C::CommentLine, C::CommentDoc, C::CommentLineDoc, C::CommentDocKeyword,
           C::CommentDocKeywordError, C::PreProcessorComment, C::PreProcessorCommentLineDoc});
    color(lexer, theme.number, {C::Number});
    color(lexer, theme.string,
          {C::DoubleQuotedString, C::SingleQuotedString, C::RawString, C::VerbatimString, C::UnclosedString});
    color(lexer, theme.function, {C::GlobalClass});
    color(lexer, theme.preprocessor, {C::PreProcessor});
    color(lexer, theme.operatorSign, {C::Operator});
}

void colorJson(QsciLexer &lexer, const Theme &theme)
{
    using J = QsciLexerJSON;
    color(lexer, theme.function, {J::Property});
    color(lexer, theme.string, {J::String, J::UnclosedString});
    color(lexer, theme.number, {J::Number});
    color(lexer, theme.keyword, {J::Keyword});
    color(lexer, theme.comment, {J::CommentLine, J::CommentBlock});
    color(lexer, theme.operatorSign, {J::Operator});
    color(lexer, theme.danger, {J::Error});
}

void styleLexer(QsciLexer &lexer, Language language, const Theme &theme, const QFont &font)
{
    constexpr int lastStyle = 127;
    lexer.setDefaultColor(theme.text);
    lexer.setDefaultPaper(theme.base);
    lexer.setDefaultFont(font);
    for (int style = 0; style <= lastStyle; ++style) {
        if (lexer.description(style).isEmpty())
            continue;
        lexer.setColor(theme.text, style);
        lexer.setPaper(theme.base, style);
        lexer.setFont(font, style);
        lexer.setEolFill(false, style);
    }
    if (language == Language::Python)
        colorPython(lexer, theme);
    else if (language == Language::Cpp)
        colorCpp(lexer, theme);
    else if (language == Language::JsonText)
        colorJson(lexer, theme);
}

void styleAnnotation(QsciScintilla &editor, int style, const QColor &ink, const QColor &paper,
                     const QFont &font)
{
    const QByteArray family = font.family().toUtf8();
    const auto number = static_cast<unsigned long>(style);
    editor.SendScintilla(QsciScintilla::SCI_STYLESETFORE, number, ink);
    editor.SendScintilla(QsciScintilla::SCI_STYLESETBACK, number, paper);
    editor.SendScintilla(QsciScintilla::SCI_STYLESETFONT, number, family.constData());
    editor.SendScintilla(QsciScintilla::SCI_STYLESETSIZE, number, static_cast<long>(font.pointSize()));
}

} // namespace

void setCodeFontSize(int points) { qApp->setProperty(codeSizeProperty, points); }

QFont codeFont()
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    const int points = qApp->property(codeSizeProperty).toInt();
    font.setPointSizeF(points > 0 ? points : QApplication::font().pointSizeF());
    font.setStyleHint(QFont::Monospace);
    return font;
}

void applyEditorStyle(QsciScintilla &editor, Language language, const Theme &theme, const QFont &font)
{
    editor.setFont(font);
    editor.setColor(theme.text);
    editor.setPaper(theme.base);
    if (QsciLexer *lexer = editor.lexer(); lexer != nullptr)
        styleLexer(*lexer, language, theme, font);
    editor.setMarginsFont(font);
    editor.setMarginsForegroundColor(theme.lineNumber);
    editor.setMarginsBackgroundColor(theme.base);
    editor.setFoldMarginColors(theme.base, theme.base);
    editor.setCaretForegroundColor(theme.text);
    editor.setCaretLineBackgroundColor(theme.currentLine);
    editor.setSelectionBackgroundColor(theme.selection);
    editor.resetSelectionForegroundColor();
    editor.setMatchedBraceBackgroundColor(theme.selection);
    editor.setMatchedBraceForegroundColor(theme.text);
    editor.setUnmatchedBraceBackgroundColor(theme.dangerSoft);
    editor.setUnmatchedBraceForegroundColor(theme.danger);
    editor.setIndentationGuidesForegroundColor(theme.border);
    editor.setIndentationGuidesBackgroundColor(theme.base);
    editor.setMarkerBackgroundColor(theme.danger, editorMarker::error);
    editor.setMarkerBackgroundColor(theme.warning, editorMarker::warning);
    editor.setMarkerBackgroundColor(theme.accent, editorMarker::note);
    editor.setMarkerForegroundColor(theme.base, editorMarker::error);
    editor.setMarkerForegroundColor(theme.base, editorMarker::warning);
    editor.setMarkerForegroundColor(theme.base, editorMarker::note);
    styleAnnotation(editor, editorMarker::annotationError, theme.danger, theme.dangerSoft, font);
    styleAnnotation(editor, editorMarker::annotationWarning, theme.warning, theme.warningSoft, font);
    styleAnnotation(editor, editorMarker::annotationNote, theme.accent, theme.accentSoft, font);
}

} // namespace heddle
