// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/review/ReviewDiff.h"

#include <QAbstractListModel>

#include <optional>
#include <utility>
#include <vector>

namespace heddle {

/// What a person has said about a hunk in this review; nothing has landed yet.
enum class HunkMark { Undecided, Accepted, Rejected };

/// Why a hunk was rejected: a word of the decision events, and the person's own words, which may be empty.
struct HunkReason {
    QString word, comment;
    bool operator==(const HunkReason &) const = default;
};

/// A proposal's diff as rows: file names, hunk heads, lines. The lines of a decided hunk are folded away
/// until its mark is taken back. GUI thread.
class DiffModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum class RowKind { File, HunkHead, Line };
    enum Role { KindRole = Qt::UserRole + 1, HunkRole, MarkRole };

    explicit DiffModel(QObject *parent = nullptr) : QAbstractListModel(parent) {}

    /// A new diff. Marks of hunks whose text is the same as before are kept.
    void setFiles(std::vector<ReviewFile> files);
    const std::vector<ReviewFile> &files() const { return m_files; }

    int hunkCount() const { return static_cast<int>(m_hunks.size()); }
    const ReviewHunk &hunk(int number) const { return *m_hunks[static_cast<std::size_t>(number)].hunk; }
    HunkMark mark(int number) const { return m_hunks[static_cast<std::size_t>(number)].mark; }
    /// `reason` counts for a rejection only.
    void setMark(int number, HunkMark mark, const HunkReason &reason = {});
    const HunkReason &reason(int number) const { return m_hunks[static_cast<std::size_t>(number)].reason; }
    /// Takes back the mark that was set last; returns its hunk.
    std::optional<int> undoLastMark();
    int markedCount(HunkMark mark) const;
    /// The next undecided hunk after (or before) `number`, around the end; empty when all are decided.
    std::optional<int> nextUndecided(int number, bool isForward) const;
    int rowOfHunk(int number) const;
    /// The hunk that a row belongs to; the first of the file for a file's row; -1 without hunks.
    int hunkOfRow(int row) const;
    const ReviewLine *line(int row) const;            ///< null unless the row is a line
    int longestLine() const { return m_longestLine; } ///< in characters

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    /// Whether rows and marks agree; for tests.
    bool isConsistent() const;

private:
    struct HunkEntry {
        const ReviewHunk *hunk = nullptr;
        HunkMark mark = HunkMark::Undecided;
        HunkReason reason = {};
    };
    struct RowEntry {
        RowKind kind = RowKind::Line;
        int file = 0;
        int hunk = -1;
        int line = -1;
    };
    std::vector<RowEntry> lineRows(int hunk, int file) const;
    QString headText(int hunk) const;
    QString lineSpeech(const ReviewLine &line) const;

    std::vector<ReviewFile> m_files;
    std::vector<HunkEntry> m_hunks;
    std::vector<RowEntry> m_rows;
    std::vector<int> m_markOrder;
    int m_longestLine = 0;
};

} // namespace heddle
