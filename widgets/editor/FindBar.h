// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>
#include <QPointer>

class QLabel;
class QLineEdit;
class QToolButton;

namespace heddle {

class CodeEditor;

/// Find and replace for one editor, in a bar below it. Escape closes it and gives the focus back.
/// GUI thread; owned by its parent.
class FindBar : public QFrame {
    Q_OBJECT

public:
    FindBar(CodeEditor *editor, QWidget *parent = nullptr);

    /// Opens it with the editor's selection as the search text.
    void open(bool withReplace);
    void findNext(bool isForward);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void replaceOne();
    void replaceEvery();

    QPointer<CodeEditor> m_editor;
    QLineEdit *m_what;
    QLineEdit *m_with;
    QToolButton *m_case;
    QToolButton *m_regular;
    QLabel *m_result;
    QList<QWidget *> m_replaceWidgets;
};

} // namespace heddle
