// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/welcome/StartPage.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

/// Numbered lines; plain text, since a task's path may hold what looks like markup.
QString numbered(const QStringList &steps)
{
    QStringList lines;
    for (int step = 0; step < steps.size(); ++step)
        lines << StartPage::tr("%1.  %2").arg(step + 1).arg(steps[step]);
    return lines.join(u"\n\n"_s);
}

} // namespace

StartPage::StartPage(QWidget *parent)
    : QScrollArea(parent),
      m_title(new QLabel(this)),
      m_words(new QLabel(this)),
      m_openTask(new QPushButton(tr("Open the task"), this))
{
    setAccessibleName(tr("What to do next"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto *page = new QWidget(this);
    page->setProperty("page", true);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setWeight(QFont::DemiBold);
    m_title->setFont(large);
    for (QLabel *label : {m_title, m_words}) {
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
    }
    m_openTask->setProperty("accent", true);
    auto *openFile = new QPushButton(tr("Open file…"), page);
    openFile->setAccessibleName(tr("Open a task file"));
    auto *openFolder = new QPushButton(tr("Open folder…"), page);
    openFolder->setAccessibleName(tr("Open a folder of tasks"));
    const int space = fontMetrics().height();
    auto *buttons = new QHBoxLayout;
    buttons->addWidget(m_openTask);
    buttons->addWidget(openFile);
    buttons->addWidget(openFolder);
    buttons->addStretch(1);
    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(space * 3, space * 2, space * 3, space * 2);
    column->setSpacing(space);
    column->addWidget(m_title);
    column->addWidget(m_words);
    column->addLayout(buttons);
    column->addStretch(1);
    setWidget(page);
    connect(m_openTask, &QPushButton::clicked, this, &StartPage::openTaskRequested);
    connect(openFile, &QPushButton::clicked, this, &StartPage::openFileRequested);
    connect(openFolder, &QPushButton::clicked, this, &StartPage::openFolderRequested);
    setState(0, {}, false);
}

void StartPage::setState(int tasks, const QString &task, bool isTrusted)
{
    m_openTask->setVisible(tasks > 0 && !task.isEmpty());
    if (tasks == 0) {
        m_title->setText(tr("No task in this folder"));
        m_words->setText(tr("A task is a Python file with a class Model, a function get_inputs() that "
                            "returns the inputs of one "
                            "call, and a function get_init_inputs() that returns what Model is made with. A "
                            "file that you add "
                            "to this folder appears by itself."));
        return;
    }
    m_title->setText(task.isEmpty() ? tr("Choose a task on the left") : task);
    QStringList steps;
    if (!isTrusted)
        steps << tr("Trust this folder in the banner above: task files are programs, and none has run yet.");
    steps << tr("Baseline (Ctrl+B) measures what a candidate has to beat.")
          << tr("Optimise (Ctrl+R) looks for a faster kernel and proposes it with its evidence.")
          << tr("Accept or reject each proposal. Nothing is written before you decide.")
          << tr("Export (Ctrl+E) shows the finished file and writes it where you say.");
    m_words->setText(numbered(steps));
}

} // namespace heddle
