// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/File.h"
#include "core/json/Json.h"

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QLabel;
class QPushButton;
class QStackedWidget;
class QTabWidget;

namespace heddle {

class ApproveGuard;
class Banner;
class CodeEditor;
class DiffModel;
class DiffView;
class ReviewBar;

/// A proposal as the window knows it; a value.
struct ProposalInfo {
    QString id, session, taskPath, candidate, policy, summary;
    QString state;           ///< as in core/session ProposalRow
    Json report;             ///< of the candidate's newest verdict, or null: not judged
    bool isOutdated = false; ///< that verdict is about another text of the task than the present one
    FileTree base;           ///< the head that it was proposed against; hunks count in this diff
    FileTree proposed;
};

/// What a person kept: hunks as (file, index in the diff against the base); empty: everything.
using HunkList = std::vector<std::pair<QString, int>>;

/// Hunks that were rejected for one reason.
struct Rejection {
    QString reason, comment;
    HunkList hunks;
};

/// The tab that shows a proposal for review: badges, diff, decisions, an editor for the proposed side.
/// It changes nothing itself: decisions go out as signals. GUI thread.
class ProposalDocument : public QWidget {
    Q_OBJECT

public:
    explicit ProposalDocument(QWidget *parent = nullptr);

    void setProposal(const ProposalInfo &info);
    const ProposalInfo &proposal() const { return m_info; }
    /// Its summary with the times that count for the task as it is now.
    QString heading() const;
    DiffModel *diff() const { return m_diff; }
    DiffView *view() const { return m_view; }
    bool isEditing() const;
    /// A decision is being written: buttons rest until the next setProposal() or setBusy(false).
    void setBusy(bool isBusy);

    void acceptCurrent();
    void rejectCurrent();
    void acceptAll();
    void rejectAll();
    void undoLast();
    void commentCurrent();
    void startEditing();
    void leaveEditing();
    /// The proposed files with what was typed.
    FileTree editedFiles() const;

signals:
    /// `rejections`: what the person refused in the same review, with the reasons given.
    void acceptRequested(const QString &proposal, const HunkList &hunks,
                         const std::vector<heddle::Rejection> &rejections);
    /// The whole of it. With several `rejections` the hunks had different reasons, and `reason` is "-".
    void rejectRequested(const QString &proposal, const QString &reason, const QString &comment,
                         const std::vector<heddle::Rejection> &rejections);
    void undoRequested(const QString &proposal);
    void commentRequested(const QString &proposal, const QString &file, int line, int hunk,
                          const QString &text);
    void judgeRequested(const QString &proposal, const FileTree &files);
    void evidenceRequested(const QString &candidate);

private:
    void buildHeader(QWidget *header);
    void showBadges();
    void showMarks();
    void markHunk(int number, bool isAccepted);
    void afterMark(int number);
    void landMarks();
    std::vector<Rejection> rejections() const;
    bool isDecidable() const;

    ProposalInfo m_info;
    ApproveGuard *m_guard;
    Banner *m_banner;
    QLabel *m_summary;
    QLabel *m_marks;
    QHBoxLayout *m_badges;
    QPushButton *m_evidence;
    QPushButton *m_edit;
    QPushButton *m_comment;
    QPushButton *m_reject;
    QPushButton *m_accept;
    QPushButton *m_undo;
    QPushButton *m_land;
    QPushButton *m_judge;
    QStackedWidget *m_stack;
    DiffModel *m_diff;
    DiffView *m_view;
    QTabWidget *m_editors;
    ReviewBar *m_bar;
    int m_rejecting = -1; ///< the hunk whose reason is asked; -1: the whole proposal
    bool m_isBusy = false;
};

} // namespace heddle
