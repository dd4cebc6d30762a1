// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Icons.h"

#include "widgets/common/PaintedIconEngine.h"

#include <QFile>
#include <QGuiApplication>
#include <QPainter>
#include <QPalette>
#include <QSvgRenderer>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

class ThemedIconEngine : public PaintedIconEngine {
public:
    explicit ThemedIconEngine(QByteArray svg) : m_svg(std::move(svg)) {}

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        const auto group = mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active;
        const QColor color = QGuiApplication::palette().color(group, QPalette::ButtonText);
        QByteArray tinted = m_svg;
        tinted.replace("currentColor", color.name().toLatin1());
        QSvgRenderer renderer(tinted);
        renderer.setAspectRatioMode(Qt::KeepAspectRatio);
        renderer.render(painter, QRectF(rect));
    }

    QIconEngine *clone() const override { return new ThemedIconEngine(m_svg); }

private:
    QByteArray m_svg;
};

} // namespace

QIcon themedIcon(const QString &name)
{
    QFile file(u":/icons/"_s + name + u".svg"_s);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QIcon(new ThemedIconEngine(file.readAll()));
}

} // namespace heddle
