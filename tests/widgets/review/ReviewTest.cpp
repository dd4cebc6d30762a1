// SPDX-License-Identifier: Apache-2.0
#include "tests/support/GuiFixture.h"
#include "widgets/editor/CodeEditor.h"
#include "widgets/review/ApproveGuard.h"
#include "widgets/review/DiffModel.h"
#include "widgets/review/DiffRowLayout.h"
#include "widgets/review/DiffView.h"
#include "widgets/review/ExportPreview.h"
#include "widgets/review/ProposalDocument.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QPushButton>
#include <QRandomGenerator>
#include <QSignalSpy>
#include <QTabWidget>

using namespace Qt::StringLiterals;
using namespace heddle;

namespace {

/// Twenty lines with changes far enough apart for two hunks, and a new file for a third.
FileTree baseTree()
{
    std::string text;
    for (int line = 1; line <= 20; ++line)
        text += "line " + std::to_string(line) + "\n";
    return {{"a.cpp", text}};
}

FileTree proposedTree()
{
    FileTree tree = baseTree();
    std::string &text = tree["a.cpp"];
    text.replace(text.find("line 3\n"), 7, "line three\n");
    text.replace(text.find("line 18\n"), 8, "line eighteen\n");
    tree["b.cpp"] = "new\n";
    return tree;
}

ProposalInfo proposal(const QString &id)
{
    ProposalInfo info;
    info.id = id;
    info.summary = u"A proposal"_s;
    info.state = u"open"_s;
    info.base = baseTree();
    info.proposed = proposedTree();
    return info;
}

QPushButton *buttonNamed(const QWidget &widget, const QString &name)
{
    for (QPushButton *button : widget.findChildren<QPushButton *>()) {
        if (button->accessibleName() == name)
            return button;
    }
    return nullptr;
}

QString headingOf(const QWidget &widget)
{
    for (const QLabel *label : widget.findChildren<QLabel *>()) {
        if (label->property("heading").toBool())
            return label->accessibleName();
    }
    return {};
}

} // namespace

class ReviewTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void theDiffNumbersItsLinesAndMarksWhatChanged();
    void decidedHunksFoldToOneLine();
    void modelStaysConsistentUnderRandomMarks();
    void marksSurviveARefreshOfTheSameDiff();
    void buttonsStayInViewWhenTheTextIsScrolled();
    void keysDecideAndLandOnceAllIsDecided();
    void acceptingEveryHunkAcceptsTheWhole();
    void undoTakesBackTheMarkBeforeTheDecision();
    void approvalIsNotArmedRightAfterAnotherProposalCame();
    void approveIsNeverTheDefaultButton();
    void aDecidedProposalTakesNoMoreDecisions();
    void editedFilesAreJudgedAsTyped();
    void aRejectionNeedsAReason();
    void eachRejectedHunkKeepsItsReason();
    void hunksRejectedForDifferentReasonsRejectTheWholeWithoutOne();
    void thePreviewShowsTheFilesAndOffersTheOtherFormat();
    void theHeadingOfAnExportSaysWhatIsWrittenAndWhere();
};

void ReviewTest::init() { testing::GuiFixture::failOnWarnings(); }

void ReviewTest::theDiffNumbersItsLinesAndMarksWhatChanged()
{
    const std::vector<ReviewFile> files = reviewDiff(baseTree(), proposedTree());
    QCOMPARE(files.size(), std::size_t(2));
    QCOMPARE(files[0].hunks.size(), std::size_t(2));
    QVERIFY(files[1].isNew);
    const ReviewHunk &first = files[0].hunks[0];
    QCOMPARE(first.added, 1);
    QCOMPARE(first.removed, 1);
    const auto removed = std::find_if(first.lines.begin(), first.lines.end(), [](const ReviewLine &line) {
        return line.kind == ReviewLine::Kind::Removed;
    });
    QVERIFY(removed != first.lines.end());
    QCOMPARE(removed->oldNumber, 3);
    QCOMPARE(removed->newNumber, 0);
    QCOMPARE(removed->text, u"line 3"_s);
    QVERIFY((removed->changed == std::vector<std::pair<int, int>>{{5, 1}}));
}

void ReviewTest::decidedHunksFoldToOneLine()
{
    DiffModel model;
    model.setFiles(reviewDiff(baseTree(), proposedTree()));
    const int rows = model.rowCount();
    model.setMark(0, HunkMark::Accepted);
    QVERIFY(model.rowCount() < rows);
    QCOMPARE(model.line(model.rowOfHunk(0) + 1), static_cast<const ReviewLine *>(nullptr));
    QVERIFY(model.index(model.rowOfHunk(0)).data().toString().startsWith(u"Accepted"_s));
    model.setMark(0, HunkMark::Undecided);
    QCOMPARE(model.rowCount(), rows);
    QCOMPARE(model.rowCount(model.index(0)), 0);
    QVERIFY(!model.index(rows).isValid());
}

void ReviewTest::modelStaysConsistentUnderRandomMarks()
{
    DiffModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setFiles(reviewDiff(baseTree(), proposedTree()));
    QRandomGenerator random(7);
    for (int round = 0; round < 300; ++round) {
        if (random.bounded(4) == 0)
            model.undoLastMark();
        else
            model.setMark(random.bounded(model.hunkCount()), static_cast<HunkMark>(random.bounded(3)));
        QVERIFY(model.isConsistent());
    }
}

void ReviewTest::marksSurviveARefreshOfTheSameDiff()
{
    DiffModel model;
    model.setFiles(reviewDiff(baseTree(), proposedTree()));
    model.setMark(1, HunkMark::Rejected);
    model.setFiles(reviewDiff(baseTree(), proposedTree()));
    QCOMPARE(model.mark(1), HunkMark::Rejected);
    QCOMPARE(model.mark(0), HunkMark::Undecided);
    QVERIFY(model.isConsistent());
}

void ReviewTest::buttonsStayInViewWhenTheTextIsScrolled()
{
    const DiffRowLayout::Metrics metrics{8.0, 70.0, 4};
    const QRectF row(0, 100, 2000, 20);
    const DiffRowLayout still = DiffRowLayout::of(row, 800, 0, metrics);
    const DiffRowLayout moved = DiffRowLayout::of(row.translated(-300, 0), 800, 300, metrics);
    QCOMPARE(still.reject, moved.reject);
    QCOMPARE(still.oldNumber, moved.oldNumber);
    QCOMPARE(moved.text.left(), still.text.left() - 300);
    QVERIFY(still.reject.right() <= 800);
    QVERIFY(!still.accept.intersects(still.reject));
    QVERIFY(!still.oldNumber.intersects(still.newNumber.adjusted(0.01, 0, 0, 0)));
}

void ReviewTest::keysDecideAndLandOnceAllIsDecided()
{
    ProposalDocument document;
    document.resize(900, 600);
    document.show();
    document.setProposal(proposal(u"p"_s));
    QSignalSpy accepted(&document, &ProposalDocument::acceptRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    QTest::keyClick(document.view(), Qt::Key_Y);
    QTest::keyClick(document.view(), Qt::Key_N);
    buttonNamed(document, u"Reason 4 Style"_s)->click();
    QCOMPARE(accepted.count(), 0);
    QTest::keyClick(document.view(), Qt::Key_Y);
    QCOMPARE(accepted.count(), 1);
    const auto hunks = accepted.front().at(1).value<HunkList>();
    QVERIFY((hunks == HunkList{{u"a.cpp"_s, 0}, {u"b.cpp"_s, 0}}));
}

void ReviewTest::acceptingEveryHunkAcceptsTheWhole()
{
    ProposalDocument document;
    document.setProposal(proposal(u"p"_s));
    QSignalSpy accepted(&document, &ProposalDocument::acceptRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    for (int hunk = 0; hunk < 3; ++hunk)
        document.acceptCurrent();
    QCOMPARE(accepted.count(), 1);
    QVERIFY(accepted.front().at(1).value<HunkList>().empty());
}

void ReviewTest::undoTakesBackTheMarkBeforeTheDecision()
{
    ProposalDocument document;
    document.setProposal(proposal(u"p"_s));
    QSignalSpy undone(&document, &ProposalDocument::undoRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    document.acceptCurrent();
    QCOMPARE(document.diff()->markedCount(HunkMark::Accepted), 1);
    document.undoLast();
    QCOMPARE(document.diff()->markedCount(HunkMark::Accepted), 0);
    QCOMPARE(undone.count(), 0);
    document.undoLast();
    QCOMPARE(undone.count(), 1);
}

void ReviewTest::approvalIsNotArmedRightAfterAnotherProposalCame()
{
    ProposalDocument document;
    document.setProposal(proposal(u"p"_s));
    QSignalSpy accepted(&document, &ProposalDocument::acceptRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    document.setProposal(proposal(u"q"_s));
    document.acceptAll();
    document.acceptCurrent();
    QCOMPARE(accepted.count(), 0);
    QCOMPARE(document.diff()->markedCount(HunkMark::Accepted), 0);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    document.acceptAll();
    QCOMPARE(accepted.count(), 1);
}

void ReviewTest::approveIsNeverTheDefaultButton()
{
    ProposalDocument document;
    document.setProposal(proposal(u"p"_s));
    for (const QPushButton *button : document.findChildren<QPushButton *>())
        QVERIFY2(!button->isDefault() && !button->autoDefault(), qPrintable(button->accessibleName()));
}

void ReviewTest::aDecidedProposalTakesNoMoreDecisions()
{
    ProposalDocument document;
    ProposalInfo info = proposal(u"p"_s);
    info.state = u"accepted"_s;
    document.setProposal(info);
    QSignalSpy accepted(&document, &ProposalDocument::acceptRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    document.acceptAll();
    QTest::keyClick(document.view(), Qt::Key_Y);
    QCOMPARE(accepted.count(), 0);
}

void ReviewTest::editedFilesAreJudgedAsTyped()
{
    ProposalDocument document;
    document.setProposal(proposal(u"p"_s));
    document.startEditing();
    QVERIFY(document.isEditing());
    auto *tabs = document.findChild<QTabWidget *>();
    static_cast<CodeEditor *>(tabs->widget(1))->replaceText(u"edited\n"_s);
    FileTree expected = proposedTree();
    expected["b.cpp"] = "edited\n";
    QVERIFY(document.editedFiles() == expected);
    document.leaveEditing();
    QVERIFY(!document.isEditing());
}

void ReviewTest::aRejectionNeedsAReason()
{
    ProposalDocument document;
    document.show();
    document.setProposal(proposal(u"p"_s));
    QSignalSpy rejected(&document, &ProposalDocument::rejectRequested);
    document.rejectAll();
    QCOMPARE(rejected.count(), 0);
    QTest::keyClick(buttonNamed(document, u"Reason 1 Wrong"_s), Qt::Key_3);
    QCOMPARE(rejected.count(), 1);
    QCOMPARE(rejected.front().at(1).toString(), u"unsafe"_s);
}

void ReviewTest::eachRejectedHunkKeepsItsReason()
{
    ProposalDocument document;
    document.show();
    document.setProposal(proposal(u"p"_s));
    QSignalSpy accepted(&document, &ProposalDocument::acceptRequested);
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
    QTest::keyClick(document.view(), Qt::Key_N);
    buttonNamed(document, u"Reason 2 Slower"_s)->click();
    QTest::keyClick(document.view(), Qt::Key_Y);
    QTest::keyClick(document.view(), Qt::Key_N);
    buttonNamed(document, u"Reason 3 Unsafe"_s)->click();
    QCOMPARE(accepted.count(), 1);
    const auto rejected = accepted.front().at(2).value<std::vector<Rejection>>();
    QCOMPARE(rejected.size(), std::size_t(2));
    QCOMPARE(rejected[0].reason, u"slower"_s);
    QVERIFY((rejected[0].hunks == HunkList{{u"a.cpp"_s, 0}}));
    QCOMPARE(rejected[1].reason, u"unsafe"_s);
    QVERIFY((rejected[1].hunks == HunkList{{u"b.cpp"_s, 0}}));
    const DiffModel &diff = *document.diff();
    QVERIFY(diff.index(diff.rowOfHunk(0)).data().toString().startsWith(u"Rejected (slower)"_s));
}

void ReviewTest::hunksRejectedForDifferentReasonsRejectTheWholeWithoutOne()
{
    ProposalDocument document;
    document.show();
    document.setProposal(proposal(u"p"_s));
    QSignalSpy rejected(&document, &ProposalDocument::rejectRequested);
    for (const QString &reason : {u"Reason 1 Wrong"_s, u"Reason 1 Wrong"_s, u"Reason 4 Style"_s}) {
        QTest::keyClick(document.view(), Qt::Key_N);
        buttonNamed(document, reason)->click();
    }
    QCOMPARE(rejected.count(), 1);
    QCOMPARE(rejected.front().at(1).toString(), u"-"_s);
    const auto reasons = rejected.front().at(3).value<std::vector<Rejection>>();
    QCOMPARE(reasons.size(), std::size_t(2));
    QCOMPARE(reasons[0].hunks.size(), std::size_t(2));
}

void ReviewTest::thePreviewShowsTheFilesAndOffersTheOtherFormat()
{
    ExportPreview preview;
    preview.setPreview({u"a.py"_s,
                        u"digest"_s,
                        u"/tmp/out"_s,
                        {{"as", "modelnew"},
                         {"checked", {{"ok", true}}},
                         {"files", {{"model_new.py", "class ModelNew: pass\n"}}}}});
    const auto *tabs = preview.findChild<QTabWidget *>();
    QCOMPARE(tabs->count(), 1);
    const auto *editor = static_cast<CodeEditor *>(tabs->widget(0));
    QCOMPARE(editor->text(), u"class ModelNew: pass\n"_s);
    QVERIFY(editor->isReadOnly());
    QSignalSpy formats(&preview, &ExportPreview::formatRequested);
    QSignalSpy written(&preview, &ExportPreview::writeRequested);
    buttonNamed(preview, u"Preview the native folder"_s)->click();
    QCOMPARE(formats.front().at(0).toString(), u"native"_s);
    // The button that is down says what is shown, and nothing else is shown yet. A screen reader toggles.
    QVERIFY(!buttonNamed(preview, u"Preview the native folder"_s)->isChecked());
    QVERIFY(buttonNamed(preview, u"Preview the ModelNew file"_s)->isChecked());
    buttonNamed(preview, u"Preview the native folder"_s)->toggle();
    QCOMPARE(formats.count(), 2);
    buttonNamed(preview, u"Write these files"_s)->click();
    QCOMPARE(written.front().at(0).toString(), u"/tmp/out"_s);
}

void ReviewTest::theHeadingOfAnExportSaysWhatIsWrittenAndWhere()
{
    const Json model{{"as", "modelnew"}, {"files", {{"model_new.py", "class ModelNew: pass\n"}}}};
    const Json native{{"as", "native"}, {"files", {{"kernel.cpp", ""}, {"plan.json", "{}"}}}};
    ExportPreview preview;
    preview.setPreview({u"a.py"_s, u"digest"_s, u"/tmp/out"_s, model});
    const auto heading = [&preview] { return headingOf(preview); };
    const QPushButton *write = buttonNamed(preview, u"Write these files"_s);
    QPushButton *open = buttonNamed(preview, u"Open the folder of the export"_s);
    QCOMPARE(heading(), u"Export of a.py: these files are not written yet"_s);
    QVERIFY(open->isHidden());
    preview.setWritten(u"another"_s, u"modelnew"_s, u"/tmp/out"_s);
    QCOMPARE(heading(), u"Export of a.py: these files are not written yet"_s);
    preview.setWritten(u"digest"_s, u"modelnew"_s, u"/tmp/out"_s);
    QCOMPARE(heading(), u"Export of a.py: model_new.py is written to /tmp/out"_s);
    QVERIFY(!write->isEnabled());
    QSignalSpy opened(&preview, &ExportPreview::openFolderRequested);
    open->click();
    QCOMPARE(opened.front().at(0).toString(), u"/tmp/out"_s);
    // The other format is not there yet, and what was written stays known.
    preview.setPreview({u"a.py"_s, u"digest"_s, u"/tmp/out-2"_s, native});
    QCOMPARE(heading(), u"Export of a.py: these files are not written yet"_s);
    QVERIFY(write->isEnabled());
    preview.setWritten(u"digest"_s, u"native"_s, u"/tmp/out-2"_s);
    QCOMPARE(heading(), u"Export of a.py: 2 files are written to /tmp/out-2"_s);
    preview.setPreview({u"a.py"_s, u"digest"_s, u"/tmp/out-3"_s, model});
    QCOMPARE(heading(), u"Export of a.py: model_new.py is written to /tmp/out"_s);
    preview.setPreview({u"a.py"_s, u"newer"_s, u"/tmp/out-3"_s, model});
    QCOMPARE(heading(), u"Export of a.py: these files are not written yet"_s);
}

QTEST_MAIN(ReviewTest)
#include "ReviewTest.moc"
