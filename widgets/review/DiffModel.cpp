// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/DiffModel.h"

#include <algorithm>

namespace heddle {

namespace {

/// Words of the decision events as a person reads them.
QString reasonName(const QString &word)
{
    if (word == u"wrong")
        return DiffModel::tr("wrong");
    if (word == u"slower")
        return DiffModel::tr("slower");
    if (word == u"unsafe")
        return DiffModel::tr("unsafe");
    return word == u"style" ? DiffModel::tr("style") : DiffModel::tr("other");
}

bool isSameHunk(const ReviewHunk &first, const ReviewHunk &second)
{
    return first.file == second.file
        && std::equal(
               first.lines.begin(), first.lines.end(), second.lines.begin(), second.lines.end(),
               [](const ReviewLine &a, const ReviewLine &b) { return a.kind == b.kind && a.text == b.text; });
}

} // namespace

void DiffModel::setFiles(std::vector<ReviewFile> files)
{
    beginResetModel();
    const std::vector<ReviewFile> oldFiles = std::move(m_files);
    const std::vector<HunkEntry> oldHunks = std::move(m_hunks);
    m_files = std::move(files);
    m_hunks.clear();
    m_rows.clear();
    m_markOrder.clear();
    m_longestLine = 0;
    for (std::size_t file = 0; file < m_files.size(); ++file) {
        m_rows.push_back({RowKind::File, static_cast<int>(file), -1, -1});
        for (const ReviewHunk &hunk : m_files[file].hunks) {
            HunkEntry entry{&hunk, HunkMark::Undecided, {}};
            for (const HunkEntry &old : oldHunks) {
                if (isSameHunk(*old.hunk, hunk)) {
                    entry.mark = old.mark;
                    entry.reason = old.reason;
                }
            }
            const int number = hunkCount();
            m_hunks.push_back(entry);
            if (entry.mark != HunkMark::Undecided)
                m_markOrder.push_back(number);
            m_rows.push_back({RowKind::HunkHead, static_cast<int>(file), number, -1});
            if (entry.mark == HunkMark::Undecided) {
                const auto lines = lineRows(number, static_cast<int>(file));
                m_rows.insert(m_rows.end(), lines.begin(), lines.end());
            }
            for (const ReviewLine &line : hunk.lines)
                m_longestLine = std::max(m_longestLine, static_cast<int>(line.text.size()));
        }
    }
    endResetModel();
}

std::vector<DiffModel::RowEntry> DiffModel::lineRows(int hunk, int file) const
{
    std::vector<RowEntry> rows;
    const int count = static_cast<int>(this->hunk(hunk).lines.size());
    for (int line = 0; line < count; ++line)
        rows.push_back({RowKind::Line, file, hunk, line});
    return rows;
}

void DiffModel::setMark(int number, HunkMark mark, const HunkReason &reason)
{
    HunkEntry &entry = m_hunks[static_cast<std::size_t>(number)];
    entry.reason = mark == HunkMark::Rejected ? reason : HunkReason();
    if (entry.mark == mark)
        return;
    const bool wasFolded = entry.mark != HunkMark::Undecided;
    const bool isFolded = mark != HunkMark::Undecided;
    const int head = rowOfHunk(number);
    std::erase(m_markOrder, number);
    if (isFolded)
        m_markOrder.push_back(number);
    // The head's text changes before the rows below it do: nothing else may change while rows move.
    entry.mark = mark;
    emit dataChanged(index(head), index(head));
    if (!wasFolded && isFolded) {
        const int count = static_cast<int>(entry.hunk->lines.size());
        beginRemoveRows({}, head + 1, head + count);
        m_rows.erase(m_rows.begin() + head + 1, m_rows.begin() + head + 1 + count);
        endRemoveRows();
    } else if (wasFolded && !isFolded) {
        const auto lines = lineRows(number, m_rows[static_cast<std::size_t>(head)].file);
        beginInsertRows({}, head + 1, head + static_cast<int>(lines.size()));
        m_rows.insert(m_rows.begin() + head + 1, lines.begin(), lines.end());
        endInsertRows();
    }
}

std::optional<int> DiffModel::undoLastMark()
{
    if (m_markOrder.empty())
        return std::nullopt;
    const int number = m_markOrder.back();
    setMark(number, HunkMark::Undecided);
    return number;
}

int DiffModel::markedCount(HunkMark mark) const
{
    return static_cast<int>(std::count_if(m_hunks.begin(), m_hunks.end(),
                                          [mark](const HunkEntry &hunk) { return hunk.mark == mark; }));
}

std::optional<int> DiffModel::nextUndecided(int number, bool isForward) const
{
    const int count = hunkCount();
    for (int step = 1; step <= count; ++step) {
        const int at = ((number + (isForward ? step : -step)) % count + count) % count;
        if (mark(at) == HunkMark::Undecided)
            return at;
    }
    return std::nullopt;
}

int DiffModel::rowOfHunk(int number) const
{
    const auto row = std::find_if(m_rows.begin(), m_rows.end(), [number](const RowEntry &entry) {
        return entry.kind == RowKind::HunkHead && entry.hunk == number;
    });
    return row == m_rows.end() ? -1 : static_cast<int>(row - m_rows.begin());
}

int DiffModel::hunkOfRow(int row) const
{
    for (std::size_t at = static_cast<std::size_t>(std::max(0, row)); at < m_rows.size(); ++at) {
        if (m_rows[at].hunk >= 0)
            return m_rows[at].hunk;
    }
    return -1;
}

const ReviewLine *DiffModel::line(int row) const
{
    if (row < 0 || row >= static_cast<int>(m_rows.size()))
        return nullptr;
    const RowEntry &entry = m_rows[static_cast<std::size_t>(row)];
    return entry.kind == RowKind::Line ? &hunk(entry.hunk).lines[static_cast<std::size_t>(entry.line)]
                                       : nullptr;
}

int DiffModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant DiffModel::data(const QModelIndex &index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RowEntry &row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == KindRole)
        return static_cast<int>(row.kind);
    if (role == HunkRole)
        return row.hunk;
    if (role == MarkRole)
        return row.hunk < 0 ? 0 : static_cast<int>(mark(row.hunk));
    if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole)
        return {};
    const ReviewFile &file = m_files[static_cast<std::size_t>(row.file)];
    if (row.kind == RowKind::File) {
        if (file.isNew)
            return tr("%1 (new file)").arg(file.name);
        return file.isDeleted ? tr("%1 (deleted)").arg(file.name) : file.name;
    }
    if (row.kind == RowKind::HunkHead)
        return headText(row.hunk);
    const ReviewLine &line = *this->line(index.row());
    return role == Qt::DisplayRole ? line.text : lineSpeech(line);
}

QString DiffModel::headText(int number) const
{
    const ReviewHunk &hunk = this->hunk(number);
    int from = 0;
    int to = 0;
    for (const ReviewLine &line : hunk.lines) {
        const int at = line.newNumber > 0 ? line.newNumber : line.oldNumber;
        from = from == 0 ? at : from;
        to = at;
    }
    //: A block of changed lines; %1 and %2 are line numbers
    const QString lines = tr("Lines %1 to %2").arg(from).arg(to);
    //: %1 is "Lines 3 to 9", %2 and %3 count added and removed lines
    const QString counts = tr("%1   +%2 −%3").arg(lines).arg(hunk.added).arg(hunk.removed);
    switch (mark(number)) {
    case HunkMark::Accepted: return tr("Accepted: %1").arg(counts);
    case HunkMark::Rejected: return tr("Rejected (%1): %2").arg(reasonName(reason(number).word), counts);
    case HunkMark::Undecided: break;
    }
    return counts;
}

QString DiffModel::lineSpeech(const ReviewLine &line) const
{
    if (line.kind == ReviewLine::Kind::Added)
        return tr("Added line %1: %2").arg(QString::number(line.newNumber), line.text);
    if (line.kind == ReviewLine::Kind::Removed)
        return tr("Removed line %1: %2").arg(QString::number(line.oldNumber), line.text);
    return tr("Line %1: %2").arg(QString::number(line.newNumber), line.text);
}

bool DiffModel::isConsistent() const
{
    std::size_t expected = m_files.size() + m_hunks.size();
    for (const HunkEntry &hunk : m_hunks)
        expected += hunk.mark == HunkMark::Undecided ? hunk.hunk->lines.size() : 0;
    const auto decided = std::count_if(m_hunks.begin(), m_hunks.end(), [](const HunkEntry &hunk) {
        return hunk.mark != HunkMark::Undecided;
    });
    return expected == m_rows.size() && static_cast<std::size_t>(decided) == m_markOrder.size();
}

} // namespace heddle
