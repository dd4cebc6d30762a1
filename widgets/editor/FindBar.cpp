// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/FindBar.h"

#include "widgets/common/Icons.h"
#include "widgets/editor/CodeEditor.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

QToolButton *makeButton(const QString &text, const QString &name, QWidget *parent, bool isCheckable = false)
{
    auto *button = new QToolButton(parent);
    button->setText(text);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setCheckable(isCheckable);
    return button;
}

} // namespace

FindBar::FindBar(CodeEditor *editor, QWidget *parent)
    : QFrame(parent),
      m_editor(editor),
      m_what(new QLineEdit(this)),
      m_with(new QLineEdit(this)),
      m_case(makeButton(tr("Aa"), tr("Match upper and lower case"), this, true)),
      m_regular(makeButton(tr(".*"), tr("Regular expression"), this, true)),
      m_result(new QLabel(this))
{
    setObjectName(u"findBar"_s);
    m_what->setPlaceholderText(tr("Find"));
    m_what->setAccessibleName(tr("Find"));
    m_with->setPlaceholderText(tr("Replace with"));
    m_with->setAccessibleName(tr("Replace with"));
    auto *previous = makeButton(tr("Previous"), tr("Previous match"), this);
    auto *next = makeButton(tr("Next"), tr("Next match"), this);
    auto *one = makeButton(tr("Replace"), tr("Replace this match"), this);
    auto *every = makeButton(tr("All"), tr("Replace all matches"), this);
    auto *close = makeButton({}, tr("Close the find bar"), this);
    close->setIcon(themedIcon(u"close"_s));
    m_replaceWidgets = {m_with, one, every};

    auto *row = new QHBoxLayout(this);
    const int space = fontMetrics().height() / 4;
    row->setContentsMargins(space * 2, space, space * 2, space);
    row->setSpacing(space);
    row->addWidget(m_what, 2);
    row->addWidget(m_case);
    row->addWidget(m_regular);
    row->addWidget(previous);
    row->addWidget(next);
    row->addWidget(m_with, 2);
    row->addWidget(one);
    row->addWidget(every);
    row->addWidget(m_result, 1);
    row->addWidget(close);

    connect(m_what, &QLineEdit::returnPressed, this, [this] { findNext(true); });
    connect(m_what, &QLineEdit::textChanged, m_result, &QLabel::clear);
    connect(m_with, &QLineEdit::returnPressed, this, &FindBar::replaceOne);
    connect(previous, &QToolButton::clicked, this, [this] { findNext(false); });
    connect(next, &QToolButton::clicked, this, [this] { findNext(true); });
    connect(one, &QToolButton::clicked, this, &FindBar::replaceOne);
    connect(every, &QToolButton::clicked, this, &FindBar::replaceEvery);
    connect(close, &QToolButton::clicked, this, [this] {
        hide();
        if (m_editor != nullptr)
            m_editor->setFocus();
    });
    hide();
}

void FindBar::open(bool withReplace)
{
    if (m_editor == nullptr)
        return;
    for (QWidget *widget : std::as_const(m_replaceWidgets))
        widget->setVisible(withReplace && !m_editor->isReadOnly());
    const QString selected = m_editor->selectedText();
    if (!selected.isEmpty() && !selected.contains(u'\n'))
        m_what->setText(selected);
    m_result->clear();
    show();
    m_what->selectAll();
    m_what->setFocus();
}

void FindBar::findNext(bool isForward)
{
    if (m_editor == nullptr || m_what->text().isEmpty())
        return;
    const bool isFound =
        m_editor->find(m_what->text(), isForward, m_case->isChecked(), m_regular->isChecked());
    m_result->setText(isFound ? QString() : tr("No match"));
}

void FindBar::replaceOne()
{
    if (m_editor != nullptr)
        m_editor->replaceSelection(m_what->text(), m_with->text(), m_case->isChecked(),
                                   m_regular->isChecked());
}

void FindBar::replaceEvery()
{
    if (m_editor == nullptr)
        return;
    const int count =
        m_editor->replaceAll(m_what->text(), m_with->text(), m_case->isChecked(), m_regular->isChecked());
    m_result->setText(tr("Replaced: %1").arg(count));
}

void FindBar::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape) {
        hide();
        if (m_editor != nullptr)
            m_editor->setFocus();
        return;
    }
    QFrame::keyPressEvent(event);
}

} // namespace heddle
