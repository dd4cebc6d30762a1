// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/ReviewBar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>

#include <array>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr std::array reasonWords{"wrong", "slower", "unsafe", "style", "other"};

} // namespace

ReviewBar::ReviewBar(QWidget *parent)
    : QFrame(parent),
      m_prompt(new QLabel(this)),
      m_words(new QLineEdit(this)),
      m_send(new QPushButton(tr("Send comment"), this))
{
    setObjectName(u"reviewBar"_s);
    auto *row = new QHBoxLayout(this);
    const int space = fontMetrics().height() / 2;
    row->setContentsMargins(space, space / 2, space, space / 2);
    row->addWidget(m_prompt);
    const QStringList labels{tr("1 Wrong"), tr("2 Slower"), tr("3 Unsafe"), tr("4 Style"), tr("5 Other")};
    for (int number = 0; number < labels.size(); ++number) {
        auto *button = new QPushButton(labels[number], this);
        button->setAccessibleName(tr("Reason %1").arg(labels[number]));
        button->setAutoDefault(false);
        row->addWidget(button);
        m_reasons << button;
        button->installEventFilter(this);
        connect(button, &QPushButton::clicked, this, [this, number] { giveReason(number); });
    }
    row->addWidget(m_words, 1);
    row->addWidget(m_send);
    auto *cancel = new QPushButton(tr("Cancel"), this);
    cancel->setAccessibleName(tr("Don't decide now"));
    row->addWidget(cancel);
    for (QPushButton *button : {m_send, cancel})
        button->setAutoDefault(false);
    m_send->setAccessibleName(tr("Send comment"));
    m_words->installEventFilter(this);
    connect(m_send, &QPushButton::clicked, this, [this] {
        if (!m_words->text().trimmed().isEmpty())
            emit commentGiven(m_words->text().trimmed());
    });
    connect(m_words, &QLineEdit::returnPressed, m_send, &QPushButton::click);
    connect(cancel, &QPushButton::clicked, this, &ReviewBar::cancelled);
    hide();
}

void ReviewBar::askReason(const QString &subject)
{
    m_prompt->setText(tr("Why do you reject %1?").arg(subject));
    for (QPushButton *button : std::as_const(m_reasons))
        button->show();
    m_send->hide();
    m_words->clear();
    m_words->setPlaceholderText(tr("A few words, if you like; then choose the reason"));
    m_words->setAccessibleName(tr("Words about the rejection"));
    show();
    m_reasons.first()->setFocus();
}

void ReviewBar::askComment(const QString &place)
{
    m_prompt->setText(tr("Comment on %1").arg(place));
    for (QPushButton *button : std::as_const(m_reasons))
        button->hide();
    m_send->show();
    m_words->clear();
    m_words->setPlaceholderText(tr("It goes back to whoever proposed this"));
    m_words->setAccessibleName(tr("Comment"));
    show();
    m_words->setFocus();
}

void ReviewBar::close() { hide(); }

void ReviewBar::giveReason(int number)
{
    emit reasonGiven(QString::fromLatin1(reasonWords[static_cast<std::size_t>(number)]),
                     m_words->text().trimmed());
}

bool ReviewBar::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    if (key->key() == Qt::Key_Escape) {
        emit cancelled();
        return true;
    }
    // Digits typed into the words are words; on the buttons they choose.
    const int number = key->key() - Qt::Key_1;
    if (watched != m_words && number >= 0 && number < m_reasons.size()) {
        giveReason(number);
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

void ReviewBar::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape)
        emit cancelled();
    else
        QFrame::keyPressEvent(event);
}

} // namespace heddle
