// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/editor/Diagnostic.h"

#include <QFont>
#include <QWidget>

#include <vector>

class QsciScintilla;

namespace heddle {

struct Theme;

/// What the text is, for its colours. Chosen by the file's name.
enum class Language { Plain, Python, Cpp, JsonText };
Language languageOf(const QString &fileName);

/// The text of one file with line numbers, colours that follow the palette, and compiler messages at
/// their lines (a mark in the margin and the sentence below the line). Hides QScintilla from the rest of
/// the program. GUI thread; owned by its parent.
class CodeEditor : public QWidget {
    Q_OBJECT

public:
    explicit CodeEditor(Language language, QWidget *parent = nullptr);

    QString text() const;
    /// Replaces the text, forgets the undo history and marks it as saved.
    void loadText(const QString &text);
    /// Replaces the text as one undo step; the cursor stays on its line.
    void replaceText(const QString &text);
    bool isModified() const;
    void setSaved();
    void setReadOnly(bool isReadOnly);
    bool isReadOnly() const;

    void setDiagnostics(const std::vector<Diagnostic> &diagnostics);
    void goTo(int line, int column = 1); ///< both from 1; clamped
    int currentLine() const;             ///< from 1
    int currentColumn() const;           ///< from 1
    int lineCount() const;
    QString selectedText() const;

    /// Selects the next match, around the end. `isRegular`: ECMAScript-like syntax of QScintilla.
    bool find(const QString &what, bool isForward, bool isCaseSensitive, bool isRegular);
    /// Replaces the selection if it is a match and finds the next one; returns whether it replaced.
    bool replaceSelection(const QString &what, const QString &with, bool isCaseSensitive, bool isRegular);
    /// Replaces every match as one undo step and returns their number.
    int replaceAll(const QString &what, const QString &with, bool isCaseSensitive, bool isRegular);

    void undo();
    void redo();
    void cut();
    void copy();
    void paste();
    /// How many markers and annotations stand at the line (from 1), for tests.
    QString annotationAt(int line) const;
    QColor paperColor() const;

signals:
    void textChanged();
    void modificationChanged(bool isModified);
    void cursorMoved(int line, int column);

protected:
    void changeEvent(QEvent *event) override;

private:
    void applyStyle();
    void showDiagnostics();

    QsciScintilla *m_text;
    Language m_language;
    std::vector<Diagnostic> m_diagnostics;
    const Theme *m_styledTheme = nullptr;
    QFont m_styledFont;
    bool m_isStyling = false;
};

} // namespace heddle
