// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/ErrorText.h"

#include <QFrame>

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace heddle {

enum class BannerKind { Info, Warning, Error, Success };

/// A line across the top of a view: a shape, a sentence, what to do next, buttons, and details that
/// unfold. Takes the place of message boxes. Owned by its layout's parent; GUI thread.
class Banner : public QFrame {
    Q_OBJECT

public:
    explicit Banner(QWidget *parent = nullptr);

    void showMessage(BannerKind kind, const QString &text, const QString &next = {},
                     const QString &details = {});
    void showError(const Error &error);
    /// A button beside the text. `accessibleName` says what it acts on where the label alone doesn't.
    QPushButton *addButton(const QString &label, const QString &accessibleName = {});
    void clearButtons();
    QString text() const;
    /// An error is on screen, which less urgent news must not take away.
    bool isShowingError() const { return !isHidden() && m_kind == BannerKind::Error; }

signals:
    void dismissed();

private:
    class Mark;
    BannerKind m_kind = BannerKind::Info;
    Mark *m_mark;
    QLabel *m_text;
    QLabel *m_next;
    QPushButton *m_more;
    QPushButton *m_close;
    QPlainTextEdit *m_details;
    QHBoxLayout *m_buttons;
    QList<QPushButton *> m_added;
};

} // namespace heddle
