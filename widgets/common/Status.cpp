// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Status.h"

#include "widgets/common/PaintedIconEngine.h"
#include "widgets/common/Text.h"
#include "widgets/common/Theme.h"

#include <QGuiApplication>
#include <QPainter>
#include <QPainterPath>

#include <cmath>

namespace heddle {

namespace {

class StatusIconEngine : public PaintedIconEngine {
public:
    explicit StatusIconEngine(Status status) : m_status(status) {}
    void paint(QPainter *painter, const QRect &rect, QIcon::Mode, QIcon::State) override
    {
        const qreal side = std::min(rect.width(), rect.height());
        QRectF square(0, 0, side, side);
        square.moveCenter(QRectF(rect).center());
        StatusMark::paint(*painter, square, m_status, QGuiApplication::palette());
    }
    QIconEngine *clone() const override { return new StatusIconEngine(m_status); }

private:
    Status m_status;
};

QPolygonF octagon(const QRectF &square)
{
    QPolygonF polygon;
    const QPointF centre = square.center();
    for (int corner = 0; corner < 8; ++corner) {
        const double angle = (corner + 0.5) * M_PI / 4.0;
        polygon << centre + QPointF(std::cos(angle), std::sin(angle)) * square.width() * 0.54;
    }
    return polygon;
}

QColor colorOf(Status status, const Theme &theme)
{
    switch (status) {
    case Status::Passed: return theme.success;
    case Status::Failed: return theme.danger;
    case Status::Warning: return theme.warning;
    case Status::NotRun: return theme.mutedText;
    case Status::Running:
    case Status::Info: return theme.accent;
    }
    return theme.mutedText;
}

} // namespace

void StatusMark::paint(QPainter &painter, const QRectF &square, Status status, const QPalette &palette)
{
    const Theme &theme = Theme::of(palette);
    const QRectF shape = square.adjusted(square.width() * 0.08, square.width() * 0.08, -square.width() * 0.08,
                                         -square.width() * 0.08);
    const QColor color = colorOf(status, theme);
    const qreal unit = shape.width() / 10.0;
    const auto at = [&shape, unit](double x, double y) { return shape.topLeft() + QPointF(x, y) * unit; };
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    QPen line(theme.onStatus, unit * 1.3, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    switch (status) {
    case Status::Passed:
        painter.drawEllipse(shape);
        painter.setPen(line);
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(QPolygonF{{at(2.9, 5.2), at(4.4, 6.7), at(7.2, 3.5)}});
        break;
    case Status::Failed:
        painter.drawPolygon(octagon(shape));
        painter.setPen(line);
        painter.drawLine(at(3.4, 3.4), at(6.6, 6.6));
        painter.drawLine(at(6.6, 3.4), at(3.4, 6.6));
        break;
    case Status::Warning:
        painter.drawPolygon(QPolygonF{{at(5, 0.2), at(10.2, 9.6), at(-0.2, 9.6)}});
        painter.setPen(line);
        painter.drawLine(at(5, 3.6), at(5, 6.0));
        painter.drawPoint(at(5, 8.0));
        break;
    case Status::NotRun:
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(color, unit * 1.2));
        painter.drawEllipse(shape.adjusted(unit * 0.6, unit * 0.6, -unit * 0.6, -unit * 0.6));
        painter.setPen(QPen(color, unit * 1.4, Qt::SolidLine, Qt::RoundCap));
        painter.drawLine(at(3.4, 5), at(6.6, 5));
        break;
    case Status::Running:
        painter.drawPie(shape.adjusted(unit * 1.8, unit * 1.8, -unit * 1.8, -unit * 1.8), 90 * 16, -240 * 16);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(color, unit * 1.1));
        painter.drawEllipse(shape.adjusted(unit * 0.6, unit * 0.6, -unit * 0.6, -unit * 0.6));
        break;
    case Status::Info:
        painter.drawRoundedRect(shape, unit * 2.4, unit * 2.4);
        painter.setPen(line);
        painter.drawLine(at(5, 4.6), at(5, 7.4));
        painter.drawPoint(at(5, 2.6));
        break;
    }
    painter.restore();
}

QIcon StatusMark::icon(Status status) { return QIcon(new StatusIconEngine(status)); }

QString StatusMark::word(Status status)
{
    switch (status) {
    case Status::Passed: return tr("passed");
    case Status::Failed: return tr("failed");
    case Status::Warning: return tr("warning");
    case Status::NotRun: return tr("not run");
    case Status::Running: return tr("running");
    case Status::Info: return tr("note");
    }
    return {};
}

Status StatusMark::ofEvidence(std::string_view status)
{
    if (status == "passed")
        return Status::Passed;
    return status == "failed" ? Status::Failed : Status::NotRun;
}

Status StatusMark::ofVerdict(std::string_view verdictClass)
{
    if (verdictClass == "clean")
        return Status::Passed;
    if (verdictClass.empty() || verdictClass == "not_judged")
        return Status::NotRun;
    if (verdictClass == "suspicious" || verdictClass == "precision_changed"
        || verdictClass == "structure_assuming" || verdictClass == "fallback")
        return Status::Warning;
    return Status::Failed;
}

QString StatusMark::verdictName(std::string_view verdictClass)
{
    if (verdictClass == "clean")
        return tr("Clean");
    if (verdictClass.empty() || verdictClass == "not_judged")
        return tr("Not judged");
    if (verdictClass == "did_not_build")
        return tr("Did not build");
    if (verdictClass == "reward_hack")
        return tr("Cheats the measurement");
    if (verdictClass == "crashed")
        return tr("Crashed");
    if (verdictClass == "timed_out")
        return tr("Timed out");
    if (verdictClass == "wrong")
        return tr("Wrong result");
    if (verdictClass == "suspicious")
        return tr("Suspicious");
    if (verdictClass == "precision_changed")
        return tr("Precision changed");
    if (verdictClass == "structure_assuming")
        return tr("Assumes structure");
    if (verdictClass == "fallback")
        return tr("Falls back to PyTorch");
    return toText(verdictClass);
}

QString StatusMark::verdictSentence(std::string_view verdictClass)
{
    if (verdictClass == "clean")
        return tr("Every check that was run passed.");
    if (verdictClass.empty() || verdictClass == "not_judged")
        return tr("Nothing has been measured yet; no figure belongs to this text.");
    if (verdictClass == "did_not_build")
        return tr("The source does not compile; the Problems list has the lines.");
    if (verdictClass == "reward_hack")
        return tr("It changes how it is measured instead of how fast it is.");
    if (verdictClass == "crashed")
        return tr("The process that ran it died.");
    if (verdictClass == "timed_out")
        return tr("It did not finish within its limit.");
    if (verdictClass == "wrong")
        return tr("Its output differs from the reference by more than the error budget.");
    if (verdictClass == "suspicious")
        return tr("The figures can't all be true; read the evidence before you believe them.");
    if (verdictClass == "precision_changed")
        return tr("It is right within tolerance, but much less precise than eager.");
    if (verdictClass == "structure_assuming")
        return tr("It is right only for inputs of the kind that the task happens to make.");
    if (verdictClass == "fallback")
        return tr("Most of the time is spent in PyTorch's own operators.");
    return {};
}

QString StatusMark::proposalState(std::string_view state)
{
    if (state == "open")
        return tr("open");
    if (state == "superseded")
        return tr("superseded");
    if (state == "stale")
        return tr("stale");
    if (state == "accepted")
        return tr("accepted");
    if (state == "accepted_in_part")
        return tr("accepted in part");
    if (state == "rejected")
        return tr("rejected");
    if (state == "withdrawn")
        return tr("withdrawn");
    return toText(state);
}

Status StatusMark::ofProposal(std::string_view state)
{
    if (state == "accepted" || state == "accepted_in_part")
        return Status::Passed;
    if (state == "rejected")
        return Status::Failed;
    if (state == "stale")
        return Status::Warning;
    return state == "open" ? Status::Info : Status::NotRun;
}

} // namespace heddle
