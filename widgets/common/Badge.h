// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/common/Status.h"

#include <QWidget>

#include <optional>

namespace heddle {

/// A small pill: a shape and a word. Read by screen readers as its text. GUI thread.
class Badge : public QWidget {
    Q_OBJECT

public:
    /// Without a status it is a plain figure.
    Badge(std::optional<Status> status, const QString &text, QWidget *parent = nullptr);

    void set(std::optional<Status> status, const QString &text);
    const QString &text() const { return m_text; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    std::optional<Status> m_status;
    QString m_text;
};

} // namespace heddle
