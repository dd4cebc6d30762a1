// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/ProposalDocument.h"

#include "widgets/common/Badge.h"
#include "widgets/common/Banner.h"
#include "widgets/common/Icons.h"
#include "widgets/common/Report.h"
#include "widgets/common/Text.h"
#include "widgets/editor/CodeEditor.h"
#include "widgets/review/ApproveGuard.h"
#include "widgets/review/DiffModel.h"
#include "widgets/review/DiffView.h"
#include "widgets/review/ReviewBar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

ProposalDocument::ProposalDocument(QWidget *parent)
    : QWidget(parent),
      m_guard(new ApproveGuard(this)),
      m_banner(new Banner(this)),
      m_stack(new QStackedWidget(this)),
      m_diff(new DiffModel(this)),
      m_view(new DiffView(m_diff, this)),
      m_editors(new QTabWidget(this)),
      m_bar(new ReviewBar(this))
{
    auto *header = new QFrame(this);
    header->setObjectName(u"reviewBar"_s);
    buildHeader(header);
    m_editors->setAccessibleName(tr("Proposed files"));
    m_stack->addWidget(m_view);
    m_stack->addWidget(m_editors);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(header);
    column->addWidget(m_banner);
    column->addWidget(m_stack, 1);
    column->addWidget(m_bar);
    setFocusProxy(m_view);

    connect(m_view, &DiffView::acceptHunk, this, [this](int hunk) { markHunk(hunk, true); });
    connect(m_view, &DiffView::rejectHunk, this, [this](int hunk) { markHunk(hunk, false); });
    connect(m_view, &DiffView::undoHunk, this, [this](int hunk) {
        m_diff->setMark(hunk, HunkMark::Undecided);
        showMarks();
    });
    connect(m_view, &DiffView::undoLast, this, &ProposalDocument::undoLast);
    connect(m_view, &DiffView::acceptAll, this, &ProposalDocument::acceptAll);
    connect(m_view, &DiffView::commentHunk, this, &ProposalDocument::commentCurrent);
    connect(m_view, &DiffView::editRequested, this, &ProposalDocument::startEditing);
    connect(m_bar, &ReviewBar::cancelled, this, [this] {
        m_bar->close();
        m_view->setFocus();
    });
    connect(m_bar, &ReviewBar::reasonGiven, this, [this](const QString &reason, const QString &comment) {
        m_bar->close();
        m_view->setFocus();
        if (m_rejecting < 0) {
            emit rejectRequested(m_info.id, reason, comment, {});
            return;
        }
        m_diff->setMark(m_rejecting, HunkMark::Rejected, {reason, comment});
        afterMark(m_rejecting);
    });
    connect(m_bar, &ReviewBar::commentGiven, this, [this](const QString &text) {
        m_bar->close();
        m_view->setFocus();
        const int hunk = m_view->currentHunk();
        if (hunk >= 0)
            emit commentRequested(m_info.id, m_diff->hunk(hunk).file, m_view->currentLine(),
                                  m_diff->hunk(hunk).index, text);
    });
}

void ProposalDocument::buildHeader(QWidget *header)
{
    const int space = fontMetrics().height() / 2;
    m_summary = new QLabel(header);
    m_summary->setProperty("heading", true);
    m_summary->setWordWrap(true);
    m_marks = new QLabel(header);
    m_marks->setProperty("muted", true);
    m_badges = new QHBoxLayout;
    m_badges->setSpacing(space);
    const auto button = [this, header](const QString &text, const QString &name, const QString &icon) {
        auto *made = new QPushButton(text, header);
        made->setAccessibleName(name);
        made->setToolTip(name);
        made->setAutoDefault(false);
        if (!icon.isEmpty())
            made->setIcon(themedIcon(icon));
        return made;
    };
    m_evidence = button(tr("Evidence"), tr("Open the evidence of this proposal"), u"report"_s);
    m_edit = button(tr("Edit"), tr("Edit the proposed files"), u"file"_s);
    m_comment = button(tr("Comment"), tr("Comment on this hunk"), u"comment"_s);
    m_undo = button(tr("Undo"), tr("Undo the last decision"), u"undo"_s);
    m_reject = button(tr("Reject all"), tr("Reject the whole proposal"), u"close"_s);
    m_accept = button(tr("Accept all"), tr("Accept the whole proposal"), u"check"_s);
    m_land = button(tr("Land"), tr("Land the accepted hunks"), u"check"_s);
    m_judge = button(tr("Judge edits"), tr("Judge the edited files as a new candidate"), QString());
    m_judge->setProperty("accent", true);

    auto *top = new QHBoxLayout;
    top->addWidget(m_summary, 1);
    for (QPushButton *made : {m_evidence, m_edit, m_comment, m_undo, m_reject, m_accept, m_judge})
        top->addWidget(made, 0, Qt::AlignTop);
    auto *bottom = new QHBoxLayout;
    bottom->addLayout(m_badges);
    bottom->addStretch(1);
    bottom->addWidget(m_marks);
    bottom->addWidget(m_land);
    auto *column = new QVBoxLayout(header);
    column->setContentsMargins(space * 3 / 2, space, space, space);
    column->setSpacing(space);
    column->addLayout(top);
    column->addLayout(bottom);

    connect(m_evidence, &QPushButton::clicked, this, [this] { emit evidenceRequested(m_info.candidate); });
    connect(m_edit, &QPushButton::clicked, this, [this] { isEditing() ? leaveEditing() : startEditing(); });
    connect(m_comment, &QPushButton::clicked, this, &ProposalDocument::commentCurrent);
    connect(m_undo, &QPushButton::clicked, this, &ProposalDocument::undoLast);
    connect(m_reject, &QPushButton::clicked, this, &ProposalDocument::rejectAll);
    connect(m_accept, &QPushButton::clicked, this, &ProposalDocument::acceptAll);
    connect(m_land, &QPushButton::clicked, this, &ProposalDocument::landMarks);
    connect(m_judge, &QPushButton::clicked, this, [this] { emit judgeRequested(m_info.id, editedFiles()); });
}

void ProposalDocument::setProposal(const ProposalInfo &info)
{
    const bool isOther = info.id != m_info.id;
    const bool isNewDiff = isOther || info.base != m_info.base || info.proposed != m_info.proposed;
    m_info = info;
    m_isBusy = false;
    setAccessibleName(tr("Proposal: %1").arg(info.summary));
    m_summary->setText(heading());
    if (isNewDiff) {
        m_diff->setFiles(reviewDiff(info.base, info.proposed));
        m_guard->rearm();
    }
    if (isOther) {
        leaveEditing();
        if (m_diff->hunkCount() > 0)
            m_view->goToHunk(0);
    }
    if (info.state == u"stale") {
        m_banner->showMessage(
            BannerKind::Warning, tr("This proposal is stale: the files changed where it changes them."),
            tr("Nothing was written. Edit the proposed files against the present text and judge again."));
    } else if (info.state == u"superseded") {
        m_banner->showMessage(BannerKind::Info,
                              tr("A newer proposal for the same plan item has taken its place."));
    } else {
        m_banner->hide();
    }
    showBadges();
    showMarks();
}

QString ProposalDocument::heading() const
{
    return Report::proposalHeading(m_info.summary, m_info.isOutdated ? Json() : m_info.report);
}

bool ProposalDocument::isEditing() const { return m_stack->currentWidget() == m_editors; }

bool ProposalDocument::isDecidable() const
{
    return !m_isBusy && m_info.state == u"open" && m_diff->hunkCount() > 0;
}

void ProposalDocument::setBusy(bool isBusy)
{
    m_isBusy = isBusy;
    showMarks();
}

void ProposalDocument::showBadges()
{
    std::vector<std::pair<std::optional<Status>, QString>> wanted;
    wanted.emplace_back(StatusMark::ofProposal(toUtf8(m_info.state)),
                        StatusMark::proposalState(toUtf8(m_info.state)));
    const std::string verdict = stringOr(memberOr(m_info.report, "verdict"), "class");
    if (verdict.empty()) {
        wanted.emplace_back(Status::NotRun, tr("not judged"));
    } else if (m_info.isOutdated) {
        wanted.emplace_back(Status::NotRun,
                            tr("%1, for another version of the task").arg(StatusMark::verdictName(verdict)));
    } else {
        const bool isBuilt = verdict != "did_not_build";
        wanted.emplace_back(isBuilt ? Status::Passed : Status::Failed,
                            isBuilt ? tr("built") : tr("did not build"));
        wanted.emplace_back(StatusMark::ofVerdict(verdict), StatusMark::verdictName(verdict));
        for (const QString &speedup : Report::speedupTexts(m_info.report))
            wanted.emplace_back(std::nullopt, speedup);
    }
    // News come ten times a second; badges that stay must not flicker.
    const int count = static_cast<int>(wanted.size());
    while (m_badges->count() > count) {
        QLayoutItem *item = m_badges->takeAt(count);
        delete item->widget();
        delete item;
    }
    for (int at = 0; at < count; ++at) {
        const auto &[status, text] = wanted[static_cast<std::size_t>(at)];
        if (at < m_badges->count())
            static_cast<Badge *>(m_badges->itemAt(at)->widget())->set(status, text);
        else
            m_badges->addWidget(new Badge(status, text, this));
    }
}

void ProposalDocument::showMarks()
{
    const int accepted = m_diff->markedCount(HunkMark::Accepted);
    const int rejected = m_diff->markedCount(HunkMark::Rejected);
    const bool isOpen = isDecidable();
    const bool isEditingNow = isEditing();
    m_view->setDecidable(isOpen);
    m_land->setVisible(isOpen && !isEditingNow && accepted > 0);
    m_land->setText(tr("Land accepted (%1)").arg(accepted));
    m_marks->setVisible(isOpen && accepted + rejected > 0);
    m_marks->setText(tr("%1 of %2 decided").arg(accepted + rejected).arg(m_diff->hunkCount()));
    for (QPushButton *button : {m_accept, m_reject}) {
        button->setVisible(m_info.state == u"open" && !isEditingNow);
        button->setEnabled(isOpen);
    }
    const bool isDecided =
        m_info.state == u"accepted" || m_info.state == u"accepted_in_part" || m_info.state == u"rejected";
    m_undo->setVisible(!isEditingNow && (isDecided || accepted + rejected > 0));
    m_undo->setEnabled(!m_isBusy);
    m_comment->setVisible(!isEditingNow);
    m_comment->setEnabled(m_diff->hunkCount() > 0);
    m_evidence->setEnabled(!m_info.report.is_null());
    m_edit->setText(isEditingNow ? tr("Back to diff") : tr("Edit"));
    m_judge->setVisible(isEditingNow);
}

void ProposalDocument::markHunk(int number, bool isAccepted)
{
    if (!isDecidable() || number < 0)
        return;
    if (!isAccepted) {
        m_rejecting = number;
        m_bar->askReason(tr("this hunk"));
        return;
    }
    if (!m_guard->isArmed())
        return;
    m_diff->setMark(number, HunkMark::Accepted);
    afterMark(number);
}

void ProposalDocument::afterMark(int number)
{
    showMarks();
    const auto next = m_diff->nextUndecided(number, true);
    if (next.has_value())
        m_view->goToHunk(*next);
    else
        landMarks();
}

void ProposalDocument::landMarks()
{
    if (!isDecidable())
        return;
    HunkList hunks;
    for (int number = 0; number < m_diff->hunkCount(); ++number) {
        if (m_diff->mark(number) == HunkMark::Accepted)
            hunks.emplace_back(m_diff->hunk(number).file, m_diff->hunk(number).index);
    }
    const std::vector<Rejection> rejected = rejections();
    if (hunks.empty()) {
        // One reason is that of the whole; several belong to their hunks.
        if (rejected.size() == 1)
            emit rejectRequested(m_info.id, rejected.front().reason, rejected.front().comment, {});
        else if (!rejected.empty())
            emit rejectRequested(m_info.id, u"-"_s, {}, rejected);
        return;
    }
    if (static_cast<int>(hunks.size()) == m_diff->hunkCount())
        hunks.clear();
    emit acceptRequested(m_info.id, hunks, rejected);
}

std::vector<Rejection> ProposalDocument::rejections() const
{
    std::vector<Rejection> all;
    for (int number = 0; number < m_diff->hunkCount(); ++number) {
        if (m_diff->mark(number) != HunkMark::Rejected)
            continue;
        const HunkReason &reason = m_diff->reason(number);
        auto found = std::find_if(all.begin(), all.end(), [&reason](const Rejection &one) {
            return one.reason == reason.word && one.comment == reason.comment;
        });
        if (found == all.end())
            found = all.insert(all.end(), Rejection{reason.word, reason.comment, {}});
        found->hunks.emplace_back(m_diff->hunk(number).file, m_diff->hunk(number).index);
    }
    return all;
}

void ProposalDocument::acceptCurrent() { markHunk(m_view->currentHunk(), true); }

void ProposalDocument::rejectCurrent() { markHunk(m_view->currentHunk(), false); }

void ProposalDocument::acceptAll()
{
    if (isDecidable() && m_guard->isArmed())
        emit acceptRequested(m_info.id, {}, {});
}

void ProposalDocument::rejectAll()
{
    if (!isDecidable())
        return;
    m_rejecting = -1;
    m_bar->askReason(tr("the whole proposal"));
}

void ProposalDocument::undoLast()
{
    if (m_isBusy)
        return;
    const auto hunk = isDecidable() ? m_diff->undoLastMark() : std::nullopt;
    if (!hunk.has_value()) {
        emit undoRequested(m_info.id);
        return;
    }
    m_view->goToHunk(*hunk);
    showMarks();
}

void ProposalDocument::commentCurrent()
{
    const int hunk = m_view->currentHunk();
    if (hunk >= 0)
        m_bar->askComment(tr("%1, line %2").arg(m_diff->hunk(hunk).file).arg(m_view->currentLine()));
}

void ProposalDocument::startEditing()
{
    if (isEditing())
        return;
    while (m_editors->count() > 0) {
        QWidget *old = m_editors->widget(0);
        m_editors->removeTab(0);
        old->deleteLater();
    }
    for (const auto &[name, text] : m_info.proposed) {
        auto *editor = new CodeEditor(languageOf(toText(name)), m_editors);
        editor->loadText(toText(text));
        editor->setObjectName(toText(name));
        m_editors->addTab(editor, toText(name));
    }
    const int hunk = m_view->currentHunk();
    m_stack->setCurrentWidget(m_editors);
    for (int tab = 0; hunk >= 0 && tab < m_editors->count(); ++tab) {
        if (m_editors->widget(tab)->objectName() == m_diff->hunk(hunk).file) {
            m_editors->setCurrentIndex(tab);
            static_cast<CodeEditor *>(m_editors->widget(tab))->goTo(std::max(1, m_view->currentLine()));
        }
    }
    if (m_editors->currentWidget() != nullptr)
        m_editors->currentWidget()->setFocus();
    showMarks();
}

void ProposalDocument::leaveEditing()
{
    m_stack->setCurrentWidget(m_view);
    showMarks();
}

FileTree ProposalDocument::editedFiles() const
{
    FileTree files = m_info.proposed;
    for (int tab = 0; tab < m_editors->count(); ++tab) {
        const auto *editor = static_cast<const CodeEditor *>(m_editors->widget(tab));
        files[toUtf8(editor->objectName())] = toUtf8(editor->text());
    }
    return files;
}

} // namespace heddle
