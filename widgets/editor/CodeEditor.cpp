// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/CodeEditor.h"

#include "widgets/common/Theme.h"
#include "widgets/editor/EditorStyle.h"

#include <QEvent>
#include <QVBoxLayout>
#include <Qsci/qscilexercpp.h>
#include <Qsci/qscilexerjson.h>
#include <Qsci/qscilexerpython.h>
#include <Qsci/qsciscintilla.h>

#include <algorithm>
#include <map>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr int numberMargin = 0;
constexpr int markerMargin = 1;

QsciLexer *makeLexer(Language language, QObject *parent)
{
    switch (language) {
    case Language::Python: return new QsciLexerPython(parent);
    case Language::Cpp: return new QsciLexerCPP(parent);
    case Language::JsonText: return new QsciLexerJSON(parent);
    case Language::Plain: break;
    }
    return nullptr;
}

int markerOf(Diagnostic::Severity severity)
{
    return severity == Diagnostic::Severity::Error  ? editorMarker::error
        : severity == Diagnostic::Severity::Warning ? editorMarker::warning
                                                    : editorMarker::note;
}

int annotationOf(Diagnostic::Severity severity)
{
    return severity == Diagnostic::Severity::Error  ? editorMarker::annotationError
        : severity == Diagnostic::Severity::Warning ? editorMarker::annotationWarning
                                                    : editorMarker::annotationNote;
}

} // namespace

Language languageOf(const QString &fileName)
{
    const QString suffix = fileName.section(u'.', -1).toLower();
    if (suffix == u"py")
        return Language::Python;
    if (suffix == u"json")
        return Language::JsonText;
    static const QStringList native{u"c"_s, u"cc"_s, u"cpp"_s, u"cu"_s, u"cuh"_s, u"h"_s, u"hpp"_s};
    return native.contains(suffix) ? Language::Cpp : Language::Plain;
}

CodeEditor::CodeEditor(Language language, QWidget *parent)
    : QWidget(parent), m_text(new QsciScintilla(this)), m_language(language)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_text);
    setFocusProxy(m_text);
    m_text->setUtf8(true);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setAccessibleName(tr("Source text"));
    m_text->setLexer(makeLexer(language, m_text));
    m_text->setAutoIndent(true);
    m_text->setIndentationsUseTabs(false);
    m_text->setIndentationWidth(4);
    m_text->setTabWidth(4);
    m_text->setBackspaceUnindents(true);
    m_text->setBraceMatching(QsciScintilla::SloppyBraceMatch);
    m_text->setCaretLineVisible(true);
    m_text->setScrollWidth(1);
    m_text->setScrollWidthTracking(true);
    m_text->setMarginType(numberMargin, QsciScintilla::NumberMargin);
    m_text->setMarginType(markerMargin, QsciScintilla::SymbolMargin);
    m_text->setMarginSensitivity(markerMargin, false);
    m_text->setMarginMarkerMask(
        markerMargin, 1 << editorMarker::error | 1 << editorMarker::warning | 1 << editorMarker::note);
    // A different shape for each severity, so that colour is never alone.
    m_text->markerDefine(QsciScintilla::Circle, editorMarker::error);
    m_text->markerDefine(QsciScintilla::RightTriangle, editorMarker::warning);
    m_text->markerDefine(QsciScintilla::SmallRectangle, editorMarker::note);
    m_text->setAnnotationDisplay(QsciScintilla::AnnotationIndented);
    applyStyle();

    connect(m_text, &QsciScintilla::textChanged, this, [this] {
        const QString widest(std::max<qsizetype>(3, QString::number(m_text->lines()).size()) + 1, u'0');
        m_text->setMarginWidth(numberMargin, widest);
        emit textChanged();
    });
    connect(m_text, &QsciScintilla::modificationChanged, this, &CodeEditor::modificationChanged);
    connect(m_text, &QsciScintilla::cursorPositionChanged, this,
            [this](int row, int place) { emit cursorMoved(row + 1, place + 1); });
}

QString CodeEditor::text() const { return m_text->text(); }

void CodeEditor::loadText(const QString &text)
{
    const bool wasReadOnly = m_text->isReadOnly();
    m_text->setReadOnly(false);
    // The line ends of the file are kept, and new lines get the same.
    m_text->setEolMode(text.contains(u"\r\n"_s) ? QsciScintilla::EolWindows : QsciScintilla::EolUnix);
    m_text->setText(text);
    m_text->SendScintilla(QsciScintilla::SCI_EMPTYUNDOBUFFER);
    m_text->setModified(false);
    m_text->setReadOnly(wasReadOnly);
    showDiagnostics();
}

void CodeEditor::replaceText(const QString &text)
{
    if (text == m_text->text())
        return;
    int line = 0;
    int column = 0;
    m_text->getCursorPosition(&line, &column);
    const int top = m_text->firstVisibleLine();
    m_text->beginUndoAction();
    m_text->selectAll();
    m_text->replaceSelectedText(text);
    m_text->endUndoAction();
    m_text->setCursorPosition(std::min(line, m_text->lines() - 1), 0);
    m_text->setFirstVisibleLine(top);
}

bool CodeEditor::isModified() const { return m_text->isModified(); }

void CodeEditor::setSaved() { m_text->setModified(false); }

void CodeEditor::setReadOnly(bool isReadOnly) { m_text->setReadOnly(isReadOnly); }

bool CodeEditor::isReadOnly() const { return m_text->isReadOnly(); }

void CodeEditor::setDiagnostics(const std::vector<Diagnostic> &diagnostics)
{
    if (m_diagnostics == diagnostics)
        return;
    m_diagnostics = diagnostics;
    showDiagnostics();
}

void CodeEditor::showDiagnostics()
{
    m_text->markerDeleteAll();
    m_text->clearAnnotations();
    // One annotation a line: several messages about a line are joined in the order they came.
    std::map<int, std::vector<const Diagnostic *>> lines;
    for (const Diagnostic &diagnostic : m_diagnostics) {
        if (diagnostic.line >= 1 && diagnostic.line <= m_text->lines())
            lines[diagnostic.line - 1].push_back(&diagnostic);
    }
    for (const auto &[line, entries] : lines) {
        QStringList sentences;
        Diagnostic::Severity worst = Diagnostic::Severity::Note;
        for (const Diagnostic *entry : entries) {
            worst = std::min(worst, entry->severity);
            sentences << entry->message;
        }
        m_text->markerAdd(line, markerOf(worst));
        m_text->annotate(line, sentences.join(u'\n'), annotationOf(worst));
    }
    m_text->setMarginWidth(markerMargin, lines.empty() ? 4 : fontMetrics().height());
}

void CodeEditor::goTo(int line, int column)
{
    const int row = std::clamp(line - 1, 0, m_text->lines() - 1);
    m_text->setCursorPosition(row, std::clamp(column - 1, 0, std::max(0, m_text->lineLength(row) - 1)));
    m_text->ensureLineVisible(row);
    const int visible = static_cast<int>(m_text->SendScintilla(QsciScintilla::SCI_LINESONSCREEN));
    m_text->setFirstVisibleLine(std::max(0, row - visible / 3));
}

int CodeEditor::currentLine() const
{
    int line = 0;
    int column = 0;
    m_text->getCursorPosition(&line, &column);
    return line + 1;
}

int CodeEditor::currentColumn() const
{
    int line = 0;
    int column = 0;
    m_text->getCursorPosition(&line, &column);
    return column + 1;
}

int CodeEditor::lineCount() const { return m_text->lines(); }

QString CodeEditor::selectedText() const { return m_text->selectedText(); }

bool CodeEditor::find(const QString &what, bool isForward, bool isCaseSensitive, bool isRegular)
{
    if (what.isEmpty())
        return false;
    int line = 0;
    int column = 0;
    m_text->getCursorPosition(&line, &column);
    if (m_text->hasSelectedText()) {
        int endLine = 0;
        int endColumn = 0;
        m_text->getSelection(&line, &column, &endLine, &endColumn);
        if (isForward) {
            line = endLine;
            column = endColumn;
        }
    }
    return m_text->findFirst(what, isRegular, isCaseSensitive, false, true, isForward, line, column, true,
                             false, true);
}

bool CodeEditor::replaceSelection(const QString &what, const QString &with, bool isCaseSensitive,
                                  bool isRegular)
{
    if (m_text->isReadOnly() || !m_text->hasSelectedText())
        return find(what, true, isCaseSensitive, isRegular) && false;
    int line = 0;
    int column = 0;
    int endLine = 0;
    int endColumn = 0;
    m_text->getSelection(&line, &column, &endLine, &endColumn);
    // The search is repeated from the selection's start, so that only a true match is ever replaced.
    const bool isMatch = m_text->findFirst(what, isRegular, isCaseSensitive, false, false, true, line, column,
                                           true, false, true);
    if (isMatch)
        m_text->replace(with);
    find(what, true, isCaseSensitive, isRegular);
    return isMatch;
}

int CodeEditor::replaceAll(const QString &what, const QString &with, bool isCaseSensitive, bool isRegular)
{
    if (m_text->isReadOnly() || what.isEmpty())
        return 0;
    int count = 0;
    m_text->beginUndoAction();
    bool isFound =
        m_text->findFirst(what, isRegular, isCaseSensitive, false, false, true, 0, 0, false, false, true);
    while (isFound) {
        const bool isEmptyMatch = m_text->selectedText().isEmpty();
        m_text->replace(with);
        ++count;
        if (isEmptyMatch)
            break;
        isFound = m_text->findNext();
    }
    m_text->endUndoAction();
    return count;
}

void CodeEditor::undo() { m_text->undo(); }

void CodeEditor::redo() { m_text->redo(); }

void CodeEditor::cut() { m_text->cut(); }

void CodeEditor::copy() { m_text->copy(); }

void CodeEditor::paste() { m_text->paste(); }

QString CodeEditor::annotationAt(int line) const { return m_text->annotation(line - 1); }

QColor CodeEditor::paperColor() const
{
    // What the widget really paints with; the getter answers with what lexers ignore.
    const auto color = static_cast<unsigned>(m_text->SendScintilla(
        QsciScintilla::SCI_STYLEGETBACK, static_cast<unsigned long>(QsciScintilla::STYLE_DEFAULT)));
    return QColor(static_cast<int>(color & 0xFFu), static_cast<int>(color >> 8 & 0xFFu),
                  static_cast<int>(color >> 16 & 0xFFu));
}

void CodeEditor::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    const QEvent::Type type = event->type();
    if (type == QEvent::PaletteChange || type == QEvent::ApplicationPaletteChange
        || type == QEvent::StyleChange || type == QEvent::FontChange) {
        // Another theme sends several of these; styling once is dear enough.
        if (m_styledTheme != &Theme::of(palette()) || m_styledFont != codeFont())
            applyStyle();
    }
}

void CodeEditor::applyStyle()
{
    // Setting colours can itself send a style event.
    if (m_isStyling)
        return;
    m_isStyling = true;
    m_styledTheme = &Theme::of(palette());
    m_styledFont = codeFont();
    applyEditorStyle(*m_text, m_language, Theme::of(palette()), codeFont());
    const QString widest(std::max<qsizetype>(3, QString::number(m_text->lines()).size()) + 1, u'0');
    m_text->setMarginWidth(numberMargin, widest);
    showDiagnostics();
    m_isStyling = false;
}

} // namespace heddle
