// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;
class QPushButton;

namespace heddle {

/// The line below a diff that asks for what a decision needs: the reason of a rejection (keys 1 to 5) or
/// the words of a comment. Takes the place of a dialog. GUI thread; owned by the document.
class ReviewBar : public QFrame {
    Q_OBJECT

public:
    explicit ReviewBar(QWidget *parent = nullptr);

    /// `subject` says what is rejected: "this hunk", "the whole proposal".
    void askReason(const QString &subject);
    void askComment(const QString &place);
    void close();

signals:
    /// `reason` is one of the events' words: wrong, slower, unsafe, style, other.
    void reasonGiven(const QString &reason, const QString &comment);
    void commentGiven(const QString &text);
    void cancelled();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void giveReason(int number);

    QLabel *m_prompt;
    QLineEdit *m_words;
    QList<QPushButton *> m_reasons;
    QPushButton *m_send;
};

} // namespace heddle
