// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Theme.h"

#include <QApplication>
#include <QFontMetrics>
#include <QStyle>
#include <QStyleFactory>
#include <QWidget>

#include <cmath>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

QColor hex(const char *name) { return QColor(QLatin1StringView(name)); }

Theme makeLight()
{
    Theme t;
    t.isDark = false;
    t.window = hex("#f4f5f7");
    t.panel = hex("#fbfbfc");
    t.base = hex("#ffffff");
    t.raised = hex("#ffffff");
    t.border = hex("#dcdfe4");
    t.strongBorder = hex("#b9bfc9");
    t.text = hex("#1d2129");
    t.mutedText = hex("#5b6472");
    t.accent = hex("#3557c4");
    t.onAccent = hex("#ffffff");
    t.accentSoft = hex("#e6ebfa");
    t.selection = hex("#d5def7");
    t.success = hex("#1a7a3d");
    t.warning = hex("#985f00");
    t.danger = hex("#c2293a");
    t.onStatus = hex("#ffffff");
    t.successSoft = hex("#e3f4e8");
    t.warningSoft = hex("#fdf2da");
    t.dangerSoft = hex("#fce8ea");
    t.diffAdded = hex("#e8f6ec");
    t.diffAddedStrong = hex("#b9e6c6");
    t.diffRemoved = hex("#fdecee");
    t.diffRemovedStrong = hex("#f6c3c9");
    t.diffHunk = hex("#eef1f8");
    t.keyword = hex("#7a3e9d");
    t.string = hex("#1a6f3c");
    t.comment = hex("#68717e");
    t.number = hex("#a3420a");
    t.function = hex("#2450b8");
    t.preprocessor = hex("#8a5200");
    t.decorator = hex("#8a5200");
    t.operatorSign = hex("#3b4252");
    t.currentLine = hex("#f3f5fb");
    t.lineNumber = hex("#69727f");
    t.searchHit = hex("#ffe08a");
    return t;
}

Theme makeDark()
{
    Theme t;
    t.isDark = true;
    t.window = hex("#17191e");
    t.panel = hex("#1c1f25");
    t.base = hex("#1f2229");
    t.raised = hex("#282c35");
    t.border = hex("#31353f");
    t.strongBorder = hex("#4a505d");
    t.text = hex("#e3e6eb");
    t.mutedText = hex("#9ba4b3");
    t.accent = hex("#8aa8ff");
    t.onAccent = hex("#10131a");
    t.accentSoft = hex("#283250");
    t.selection = hex("#33426e");
    t.success = hex("#5fcf85");
    t.warning = hex("#e6b450");
    t.danger = hex("#ff7a85");
    t.onStatus = hex("#14161a");
    t.successSoft = hex("#1d3327");
    t.warningSoft = hex("#3a3120");
    t.dangerSoft = hex("#3d2429");
    t.diffAdded = hex("#1c3026");
    t.diffAddedStrong = hex("#2a5a3d");
    t.diffRemoved = hex("#3a2227");
    t.diffRemovedStrong = hex("#6b303a");
    t.diffHunk = hex("#252a36");
    t.keyword = hex("#c9a2f0");
    t.string = hex("#98d6a6");
    t.comment = hex("#8b94a3");
    t.number = hex("#f0a878");
    t.function = hex("#8fb7ff");
    t.preprocessor = hex("#e6c07a");
    t.decorator = hex("#e6c07a");
    t.operatorSign = hex("#c3c9d4");
    t.currentLine = hex("#262a33");
    t.lineNumber = hex("#868f9f");
    t.searchHit = hex("#6b5a1e");
    return t;
}

double channel(double value)
{
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double luminance(const QColor &color)
{
    return 0.2126 * channel(color.redF()) + 0.7152 * channel(color.greenF())
        + 0.0722 * channel(color.blueF());
}

} // namespace

const Theme &Theme::light()
{
    static const Theme theme = makeLight();
    return theme;
}

const Theme &Theme::dark()
{
    static const Theme theme = makeDark();
    return theme;
}

const Theme &Theme::of(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness()
        ? dark()
        : light();
}

QPalette Theme::palette() const
{
    QPalette p;
    p.setColor(QPalette::Window, window);
    p.setColor(QPalette::WindowText, text);
    p.setColor(QPalette::Base, base);
    p.setColor(QPalette::AlternateBase, panel);
    p.setColor(QPalette::ToolTipBase, raised);
    p.setColor(QPalette::ToolTipText, text);
    p.setColor(QPalette::PlaceholderText, mutedText);
    p.setColor(QPalette::Text, text);
    p.setColor(QPalette::Button, raised);
    p.setColor(QPalette::ButtonText, text);
    p.setColor(QPalette::BrightText, danger);
    p.setColor(QPalette::Highlight, selection);
    p.setColor(QPalette::HighlightedText, text);
    p.setColor(QPalette::Link, accent);
    p.setColor(QPalette::LinkVisited, accent);
    p.setColor(QPalette::Light, isDark ? raised.lighter(120) : base);
    p.setColor(QPalette::Midlight, border);
    p.setColor(QPalette::Mid, strongBorder);
    p.setColor(QPalette::Dark, strongBorder);
    p.setColor(QPalette::Shadow, isDark ? window.darker(160) : strongBorder);
    for (const auto role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        p.setColor(QPalette::Disabled, role, isDark ? mutedText.darker(140) : mutedText.lighter(145));
    return p;
}

void applyAppearance(Appearance appearance, const QPalette &system, QWidget &window)
{
    const Theme &theme = appearance == Appearance::System ? Theme::of(system)
        : appearance == Appearance::Dark                  ? Theme::dark()
                                                          : Theme::light();
    // Asked of the application, since a style sheet hides the style's own name; setting it again restyles everything.
    constexpr const char *hasStyle = "heddleStyle";
    if (!qApp->property(hasStyle).toBool()) {
        QApplication::setStyle(QStyleFactory::create(u"Fusion"_s));
        qApp->setProperty(hasStyle, true);
    }
    QApplication::setPalette(theme.palette());
    // Of the window, not of the application: there Qt styles every widget once for each of its ancestors.
    window.setStyleSheet(theme.styleSheet(QFontMetrics(QApplication::font()).height()));
}

double contrastRatio(const QColor &first, const QColor &second)
{
    const double a = luminance(first);
    const double b = luminance(second);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

} // namespace heddle
