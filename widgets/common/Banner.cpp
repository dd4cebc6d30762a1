// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Banner.h"

#include "widgets/common/Icons.h"
#include "widgets/common/Status.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QStyle>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

/// The shape at the left, so that a banner's kind is never told by colour alone.
class Banner::Mark : public QWidget {
public:
    using QWidget::QWidget;
    void setStatus(Status status)
    {
        m_status = status;
        update();
    }
    QSize sizeHint() const override
    {
        const int side = fontMetrics().height() + 2;
        return {side, side};
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        const qreal side = sizeHint().width();
        StatusMark::paint(painter, QRectF(0, 0, side, side), m_status, palette());
    }

private:
    Status m_status = Status::Info;
};

Banner::Banner(QWidget *parent)
    : QFrame(parent),
      m_mark(new Mark(this)),
      m_text(new QLabel(this)),
      m_next(new QLabel(this)),
      m_more(new QPushButton(tr("Details"), this)),
      m_close(new QPushButton(this)),
      m_details(new QPlainTextEdit(this)),
      m_buttons(new QHBoxLayout)
{
    const int space = fontMetrics().height() / 2;
    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_next->setWordWrap(true);
    m_next->setProperty("muted", true);
    m_more->setProperty("flat", true);
    m_more->setCheckable(true);
    m_more->setAccessibleName(tr("Details of this message"));
    m_close->setProperty("flat", true);
    m_close->setIcon(themedIcon(u"close"_s));
    m_close->setAccessibleName(tr("Close this message"));
    m_close->setToolTip(tr("Close this message"));
    m_more->setAutoDefault(false);
    m_close->setAutoDefault(false);
    m_details->setReadOnly(true);
    m_details->setAccessibleName(tr("Details of the message"));
    m_details->setMaximumHeight(fontMetrics().height() * 8);
    m_details->hide();

    auto *words = new QVBoxLayout;
    words->setSpacing(space / 4);
    words->addWidget(m_text);
    words->addWidget(m_next);
    auto *row = new QHBoxLayout;
    row->setSpacing(space);
    row->addWidget(m_mark, 0, Qt::AlignTop);
    row->addLayout(words, 1);
    row->addLayout(m_buttons);
    row->addWidget(m_more);
    row->addWidget(m_close);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(space * 3 / 2, space, space, space);
    column->addLayout(row);
    column->addWidget(m_details);

    connect(m_more, &QPushButton::toggled, m_details, &QWidget::setVisible);
    connect(m_close, &QPushButton::clicked, this, [this] {
        hide();
        emit dismissed();
    });
    hide();
}

void Banner::showMessage(BannerKind kind, const QString &text, const QString &next, const QString &details)
{
    static constexpr std::array kinds{"info", "warning", "error", "success"};
    static constexpr std::array marks{Status::Info, Status::Warning, Status::Failed, Status::Passed};
    m_kind = kind;
    const auto index = static_cast<std::size_t>(kind);
    setProperty("banner", QString::fromLatin1(kinds[index]));
    m_mark->setStatus(marks[index]);
    m_text->setText(text);
    m_next->setText(next);
    m_next->setVisible(!next.isEmpty());
    m_more->setChecked(false);
    m_more->setVisible(!details.isEmpty());
    m_details->setPlainText(details);
    setAccessibleName(text);
    style()->unpolish(this);
    style()->polish(this);
    show();
}

void Banner::showError(const Error &error)
{
    const ErrorMessage message = ErrorText::message(error);
    showMessage(error.code() == Code::Cancelled ? BannerKind::Info : BannerKind::Error, message.title,
                message.next, message.details);
}

QPushButton *Banner::addButton(const QString &label, const QString &accessibleName)
{
    auto *button = new QPushButton(label, this);
    button->setAccessibleName(accessibleName.isEmpty() ? label : accessibleName);
    button->setAutoDefault(false);
    m_buttons->addWidget(button);
    m_added << button;
    return button;
}

void Banner::clearButtons()
{
    for (QPushButton *button : std::as_const(m_added))
        button->deleteLater();
    m_added.clear();
}

QString Banner::text() const { return m_text->text(); }

} // namespace heddle
