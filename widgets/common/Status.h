// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QIcon>
#include <QString>

#include <string_view>

class QPainter;
class QPalette;
class QRectF;

namespace heddle {

/// How a thing stands. Always shown as a shape and a word, colour only adds to them.
enum class Status {
    Passed,  ///< disc with a tick
    Failed,  ///< octagon with a cross
    Warning, ///< triangle with a mark
    NotRun,  ///< ring with a dash
    Running, ///< ring with a filled sector
    Info,    ///< rounded square with an i
};

/// Shapes and words of states and verdict classes. Pure functions; painting on the GUI thread.
class StatusMark {
    Q_DECLARE_TR_FUNCTIONS(heddle::StatusMark)

public:
    /// Paints the shape into the square; colours from the theme of the palette.
    static void paint(QPainter &painter, const QRectF &square, Status status, const QPalette &palette);
    /// The shape as an icon that follows the application's palette and the screen's scale.
    static QIcon icon(Status status);

    /// The word beside the shape: "passed", "failed", "not run", ...
    static QString word(Status status);

    static Status ofEvidence(std::string_view status); ///< "passed", "failed", "not run"
    static Status ofVerdict(std::string_view verdictClass);
    /// "Clean", "Wrong result", ... for a class of the report schema; the class itself if unknown.
    static QString verdictName(std::string_view verdictClass);
    /// One sentence: what the class means for the person.
    static QString verdictSentence(std::string_view verdictClass);
    static QString proposalState(std::string_view state);
    static Status ofProposal(std::string_view state);
};

} // namespace heddle
