// SPDX-License-Identifier: Apache-2.0
#include "tests/support/GuiFixture.h"
#include "widgets/chat/TranscriptView.h"
#include "widgets/common/DataTable.h"
#include "widgets/common/Theme.h"
#include "widgets/evidence/EvidenceRows.h"
#include "widgets/evidence/EvidenceView.h"
#include "widgets/plan/PlanView.h"
#include "widgets/results/ProblemsView.h"
#include "widgets/results/ResultsView.h"
#include "widgets/tasks/DecisionList.h"
#include "widgets/tasks/ProposalList.h"
#include "widgets/tasks/TaskScan.h"
#include "widgets/tasks/TaskTree.h"
#include "widgets/welcome/CheckUpView.h"
#include "widgets/welcome/WelcomePage.h"

#include <QAbstractItemModelTester>
#include <QHeaderView>
#include <QPushButton>
#include <QSignalSpy>

using namespace Qt::StringLiterals;
using namespace heddle;
namespace fs = std::filesystem;

namespace {

Json timing(double median)
{
    return {{"median_ms", median}, {"ci_ms", {median * 0.98, median * 1.02}}, {"runs", 20}};
}

Event eventOf(std::int64_t id, const std::string &type, Json data)
{
    return {id, "s", "2026-11-30T10:30:45.123Z", "builtin", type, std::move(data)};
}

Json report(const std::string &verdict)
{
    return {{"stage", "quick"},
            {"baselines", {{"eager", timing(4.0)}, {"compile", timing(2.0)}}},
            {"candidate", timing(1.0)},
            {"verdict",
             {{"class", verdict},
              {"evidence",
               {{{"id", "b"}, {"status", "passed"}, {"message", "fine"}, {"data", {{"max_abs", 1e-7}}}},
                {{"id", "a"}, {"status", "failed"}, {"message", "bad"}, {"data", Json::object()}}}}}},
            {"speedup",
             {{"runner", {{"compile", {{"value", 2.0}, {"ci", {1.9, 2.1}}}}}}, {"deployed", nullptr}}}};
}

} // namespace

class ViewsTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void figuresOfMeasurementsStandOnlyInLinks_data();
    void figuresOfMeasurementsStandOnlyInLinks();
    void aNotesFigureLinksToTheEventThatMeasuredIt();
    void theTranscriptIsRenderedAgainInTheOtherTheme();
    void textOfEventsIsNeverMarkup();
    void failedEvidenceComesFirst();
    void anEmptyReportShowsNoNumber();
    void moreThanTheRoofIsToldAsARoofThatWasMeasuredBadly();
    void aCheckShowsWholeWhatItFound();
    void aVariantIsToldWithItsSettings();
    void aPlanItemIsCalledByItsTitle();
    void aBaselineHasNoColumnForACandidate();
    void resultsKeepOneRowForACandidateAndStage();
    void baselinesStandBesideACandidateOfTheirOwnRun();
    void problemsGoToTheirPlace();
    void planItemsFollowTheirEvents();
    void onlyFilesWithAModelAreTasks_data();
    void onlyFilesWithAModelAreTasks();
    void scanningLeavesOutHiddenAndHeadFolders();
    void theTreeKeepsItsSelection();
    void openProposalsComeFirstAndAreCounted();
    void theCheckUpNamesWhatIsMissing();
    void manyEventsAreLaidOutBitByBit();
    void decisionsAreNewestFirstAndOfferWhatIsPossible();
};

void ViewsTest::init()
{
    testing::GuiFixture::failOnWarnings();
    QLocale::setDefault(QLocale::c());
}

void ViewsTest::figuresOfMeasurementsStandOnlyInLinks_data()
{
    QTest::addColumn<QString>("type");
    QTest::addColumn<QString>("data");
    const auto row = [](const char *type, const Json &data) {
        QTest::newRow(type) << QString::fromLatin1(type) << QString::fromStdString(compactText(data));
    };
    row("baseline_measured", {{"baselines", {{"eager", timing(4.0)}}}});
    row("judged", {{"candidate", "c0ffee"}, {"stage", "quick"}, {"report", report("clean")}});
    row("compiled", {{"candidate", "c0ffee"}, {"ok", true}, {"seconds", 0.31}});
    row("benchmarked", {{"candidate", "c0ffee"}, {"median_ms", 1.5}, {"tunables", Json::object()}});
    row("candidate_created", {{"candidate", "0123456789abcdef"}});
    row("linted", {{"findings", {1, 2}}});
    row("plan_written", {{"items", {1, 2, 3}}});
}

void ViewsTest::figuresOfMeasurementsStandOnlyInLinks()
{
    QFETCH(const QString, type);
    QFETCH(const QString, data);
    const auto parsed = parseJson(data.toStdString(), "test");
    QVERIFY(parsed.has_value());
    const std::vector<Fragment> parts = EventText::fragments(eventOf(7, type.toStdString(), *parsed));
    QVERIFY(!parts.empty());
    int links = 0;
    for (const Fragment &part : parts) {
        if (part.kind == Fragment::Kind::Link) {
            ++links;
            QCOMPARE(part.event, std::int64_t(7));
            continue;
        }
        for (const QChar character : part.text)
            QVERIFY2(!character.isDigit(), qPrintable(part.text));
    }
    QVERIFY(links > 0);
}

void ViewsTest::aNotesFigureLinksToTheEventThatMeasuredIt()
{
    const Json data{{"text", "It took 4.00 ms before."},
                    {"figures", {{{"text", "4.00 ms"}, {"event", 3}}, {{"text", "2 runs"}, {"event", 4}}}}};
    const std::vector<Fragment> parts = EventText::fragments(eventOf(9, "note", data));
    QCOMPARE(parts.size(), std::size_t(4));
    QVERIFY((parts[1] == Fragment{Fragment::Kind::Link, u"4.00 ms"_s, 3}));
    QCOMPARE(parts[2].text, u"before."_s);
    QVERIFY((parts[3] == Fragment{Fragment::Kind::Link, u"2 runs"_s, 4}));
}

void ViewsTest::theTranscriptIsRenderedAgainInTheOtherTheme()
{
    TranscriptView view;
    view.setPalette(Theme::light().palette());
    view.appendEvents({eventOf(1, "note", {{"text", "hello"}}), eventOf(2, "trusted", {{"folder", "/w"}})});
    QCOMPARE(view.lineCount(), std::size_t(1));
    const QString text = view.toPlainText();
    view.setPalette(Theme::dark().palette());
    QCOMPARE(view.toPlainText(), text);
    QVERIFY(view.toHtml().contains(Theme::dark().text.name()));
}

void ViewsTest::textOfEventsIsNeverMarkup()
{
    TranscriptView view;
    view.appendEvents({eventOf(1, "note", {{"text", "<b>bold</b> & <a href=\"x\">link</a>"}})});
    QVERIFY(view.toPlainText().contains(u"<b>bold</b> & <a href=\"x\">link</a>"_s));
}

void ViewsTest::failedEvidenceComesFirst()
{
    const std::vector<Row> rows = EvidenceRows::evidence(report("wrong"));
    QCOMPARE(rows.size(), std::size_t(2));
    QCOMPARE(rows[0].cells[1].text, u"a"_s);
    QCOMPARE(rows[0].cells[0].text, u"failed"_s);
    QCOMPARE(rows[0].cells[0].status, std::optional(Status::Failed));
    QCOMPARE(rows[1].cells[3].text, u"max_abs\u00a01e-07"_s);
}

void ViewsTest::anEmptyReportShowsNoNumber()
{
    EvidenceView view;
    view.setReport(u"task"_s, Json());
    for (const DataTable *table : view.findChildren<DataTable *>())
        QCOMPARE(table->rows()->rowCount(), 0);
    view.setReport(u"task"_s, report("wrong"));
    QCOMPARE(view.heading(), u"Wrong result"_s);
}

void ViewsTest::moreThanTheRoofIsToldAsARoofThatWasMeasuredBadly()
{
    const auto told = [](double share) {
        for (const Row &row : EvidenceRows::figures({{"roof", {{"ms", 1.0}, {"share", share}}}}))
            if (row.cells[0].text == u"Share of the roof reached"_s)
                return row.cells[1].text;
        return QString();
    };
    QVERIFY2(told(1.08).contains(u"busier moment"_s), qPrintable(told(1.08)));
    QVERIFY2(!told(1.0).isEmpty() && !told(1.0).contains(u"busier moment"_s), qPrintable(told(1.0)));
}

void ViewsTest::aCheckShowsWholeWhatItFound()
{
    Json judged = report("clean");
    const std::string words =
        "it ran to the end on every set of inputs, and what it gave was as the reference gives it";
    Json figures = Json::object();
    for (const char *name : {"landlock", "rung", "seccomp", "user", "address_space", "processes"})
        figures[name] = "a figure of a check";
    judged["verdict"]["evidence"] =
        Json::array({{{"id", "ran"}, {"status", "passed"}, {"message", words}, {"data", figures}}});
    EvidenceView view;
    view.resize(900, 900);
    view.setReport(u"a.py"_s, judged);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    for (const DataTable *table : view.findChildren<DataTable *>()) {
        if (table->accessibleName() != u"Evidence"_s)
            continue;
        const QModelIndex found = table->model()->index(0, 2);
        QVERIFY(found.isValid());
        const QRect room = table->visualRect(found);
        const QRect needed = table->fontMetrics().boundingRect(QRect(0, 0, room.width() - 12, 10000),
                                                               Qt::TextWordWrap, found.data().toString());
        QVERIFY2(needed.height() <= room.height() && needed.width() <= room.width(),
                 qPrintable(u"%1x%2"_s.arg(room.width()).arg(room.height())));
        return;
    }
    QFAIL("no table of the evidence");
}

void ViewsTest::aVariantIsToldWithItsSettings()
{
    const Json data{{"candidate", "c0ffee"}, {"median_ms", 1.5}, {"tunables", {{"STREAM", 1}, {"TILE", 64}}}};
    const std::vector<Fragment> parts = EventText::fragments(eventOf(7, "benchmarked", data));
    QCOMPARE(parts.back().text, u"with STREAM 1, TILE 64"_s);
}

void ViewsTest::aPlanItemIsCalledByItsTitle()
{
    TranscriptView view;
    const Json plan{{"items", {{{"id", "item-1"}, {"title", "Fuse everything"}, {"state", "open"}}}}};
    view.appendEvents({eventOf(1, "plan_written", plan)});
    view.appendEvents({eventOf(2, "plan_item_changed", {{"id", "item-1"}, {"state", "done"}}),
                       eventOf(3, "plan_item_changed", {{"id", "item-2"}, {"state", "working"}})});
    const QString shown = view.toPlainText();
    QVERIFY2(shown.contains(u"Plan item Fuse everything is now done"_s), qPrintable(shown));
    QVERIFY2(shown.contains(u"Plan item item-2 is now working"_s), qPrintable(shown));
}

void ViewsTest::aBaselineHasNoColumnForACandidate()
{
    EvidenceView view;
    const auto *timings = view.findChild<DataTable *>();
    const int last = static_cast<int>(EvidenceRows::timingHeaders().size()) - 1;
    view.setReport(u"a.py"_s, {{"baselines", {{"eager", timing(4.0)}}}});
    QVERIFY(timings->isColumnHidden(last));
    view.setReport(u"a.py"_s, report("clean"));
    QVERIFY(!timings->isColumnHidden(last));
}

void ViewsTest::baselinesStandBesideACandidateOfTheirOwnRun()
{
    Json confirmed = report("clean");
    confirmed["stage"] = "confirmed";
    confirmed["baselines"]["eager"] = timing(5.0);
    confirmed["speedup"]["deployed"] = {{"eager", {{"value", 5.0}, {"ci", {4.9, 5.1}}}}};
    const std::vector<Event> events{
        eventOf(1, "baseline_measured", {{"baselines", {{"eager", timing(4.0)}}}}),
        eventOf(2, "judged", {{"candidate", "c1"}, {"stage", "quick"}, {"report", report("clean")}}),
        eventOf(3, "judged", {{"candidate", "c1"}, {"stage", "confirmed"}, {"report", confirmed}})};
    ResultsView view;
    const auto cell = [&view](int row, int column) {
        const QAbstractItemModel *model = view.findChild<DataTable *>()->model();
        return model->index(row, column).data().toString().replace(u'\u00a0', u' ');
    };
    view.setEvents({&events[0], &events[1]});
    QVERIFY2(cell(0, 2).startsWith(u"4.00 ms"_s), qPrintable(cell(0, 2)));
    QCOMPARE(cell(0, 6), u"baseline"_s);
    view.setEvents({&events[0], &events[1], &events[2]});
    QVERIFY2(cell(0, 2).startsWith(u"5.00 ms"_s), qPrintable(cell(0, 2)));
    QCOMPARE(cell(0, 6), u"confirmed"_s);
    QCOMPARE(view.rowCount(), 4);
}

void ViewsTest::resultsKeepOneRowForACandidateAndStage()
{
    ResultsView view;
    const Json judged{{"candidate", "c0ffee00"}, {"stage", "quick"}, {"report", report("clean")}};
    const std::vector<Event> events{
        eventOf(1, "baseline_measured", {{"baselines", {{"eager", timing(4.0)}}}}),
        eventOf(2, "judged", judged), eventOf(3, "judged", judged)};
    view.setEvents({&events[0], &events[1], &events[2]});
    QCOMPARE(view.rowCount(), 2);
    QSignalSpy spy(&view, &ResultsView::eventActivated);
    auto *table = view.findChild<DataTable *>();
    emit table->keyActivated(table->rows()->rows().back().key);
    QCOMPARE(spy.front().front().value<std::int64_t>(), std::int64_t(3));
}

void ViewsTest::problemsGoToTheirPlace()
{
    ProblemsView view;
    view.setDiagnostics({{u"k.cpp"_s, 8, 3, Diagnostic::Severity::Error, u"bad"_s},
                         {u"k.cpp"_s, 9, 1, Diagnostic::Severity::Warning, u"odd"_s}});
    QCOMPARE(view.errorCount(), 1);
    QSignalSpy spy(&view, &ProblemsView::placeActivated);
    emit view.findChild<DataTable *>()->keyActivated(u"0"_s);
    QCOMPARE(spy.front().at(0).toString(), u"k.cpp"_s);
    QCOMPARE(spy.front().at(1).toInt(), 8);
}

void ViewsTest::planItemsFollowTheirEvents()
{
    PlanView view;
    view.setItems({{{"id", "item-1"}, {"title", "Fuse"}, {"state", "open"}}});
    view.changeItem("item-1", "done", "proposed");
    const auto &rows = view.findChild<DataTable *>()->rows()->rows();
    QCOMPARE(rows.size(), std::size_t(1));
    QCOMPARE(rows[0].cells[0].text, u"done"_s);
    QCOMPARE(rows[0].cells[0].status, std::optional(Status::Passed));
}

void ViewsTest::onlyFilesWithAModelAreTasks_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("isTask");
    QTest::newRow("plain") << u"import torch\nclass Model(nn.Module):\n"_s << true;
    QTest::newRow("first line") << u"class Model:\n"_s << true;
    QTest::newRow("longer name") << u"class ModelNew(nn.Module):\n"_s << false;
    QTest::newRow("both") << u"class ModelNew:\n  pass\nclass Model:\n"_s << true;
    QTest::newRow("indented") << u"    class Model:\n"_s << false;
    QTest::newRow("in a word") << u"# a class Model\n"_s << false;
}

void ViewsTest::onlyFilesWithAModelAreTasks()
{
    QFETCH(const QString, text);
    QFETCH(const bool, isTask);
    QCOMPARE(isTaskSource(text.toStdString()), isTask);
}

void ViewsTest::scanningLeavesOutHiddenAndHeadFolders()
{
    const auto folder = TempFolder::create("heddle-scan-");
    QVERIFY(folder.has_value());
    const std::string task = "class Model:\n    pass\n";
    QVERIFY(writeTree(folder->path(),
                      {{"b.py", task},
                       {"sub/a.py", task},
                       {"other.py", "x = 1\n"},
                       {"b.heddle/kernel.cpp", "k"},
                       {"b.heddle/c.py", task},
                       {"__pycache__/d.py", task}}));
    QVERIFY(makeFolder(folder->path() / ".hidden"));
    QVERIFY(writeFileAtomically(folder->path() / ".hidden" / "e.py", task));
    const auto tasks = scanTasks(folder->path(), {});
    QVERIFY(tasks.has_value());
    QVERIFY((*tasks
             == std::vector<TaskFile>{{"b.py", {"b.heddle/c.py", "b.heddle/kernel.cpp"}}, {"sub/a.py", {}}}));
    std::stop_source stop;
    stop.request_stop();
    QVERIFY(!scanTasks(folder->path(), stop.get_token()).has_value());
}

void ViewsTest::theTreeKeepsItsSelection()
{
    TaskTree tree;
    const QAbstractItemModelTester tester(tree.tasks(),
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    tree.setTasks({{"a.py", {}}, {"b.py", {"b.heddle/plan.json"}}});
    tree.selectTask(u"b.py"_s);
    QSignalSpy spy(&tree, &TaskTree::taskSelected);
    tree.setTasks({{"a.py", {}}, {"aa.py", {}}, {"b.py", {"b.heddle/kernel.cpp", "b.heddle/plan.json"}}});
    QCOMPARE(tree.currentTask(), u"b.py"_s);
    QCOMPARE(tree.taskCount(), 3);
    tree.selectTask(u"b.py"_s);
    QCOMPARE(spy.count(), 0);
}

void ViewsTest::openProposalsComeFirstAndAreCounted()
{
    ProposalList list;
    QSignalSpy spy(&list, &ProposalList::countChanged);
    ProposalRow rejected;
    rejected.id = "p1";
    rejected.state = "rejected";
    rejected.event = 9;
    ProposalRow open = rejected;
    open.id = "p2";
    open.state = "open";
    open.event = 2;
    list.setProposals({rejected, open}, {});
    QCOMPARE(list.openCount(), 1);
    QCOMPARE(spy.count(), 1);
    QCOMPARE(list.findChild<DataTable *>()->rows()->rows().front().key, u"p2"_s);
    list.setProposals({rejected, open}, {});
    QCOMPARE(spy.count(), 1);
}

void ViewsTest::theCheckUpNamesWhatIsMissing()
{
    WelcomePage page;
    const auto *table = page.findChild<DataTable *>();
    QCOMPARE(table->rows()->rowCount(), 0);
    page.setCheckUp(
        {{{"id", "torch"}, {"ok", false}, {"missing", "no PyTorch"}, {"next", "set HEDDLE_PYTHON"}}});
    const Row &row = table->rows()->rows().front();
    QCOMPARE(row.cells[0].text, u"missing"_s);
    QCOMPARE(row.cells[2].text, u"no PyTorch"_s);
    QCOMPARE(row.cells[3].text, u"set HEDDLE_PYTHON"_s);
    // What is optional is missing and nothing is wrong: no warning, and the remedy is there.
    page.setCheckUp(
        {{{"id", "nvrtc"}, {"ok", true}, {"found", ""}, {"missing", "no NVRTC"}, {"next", "pip install"}}});
    const Row &optional = table->rows()->rows().front();
    QCOMPARE(optional.cells[0].text, u"missing"_s);
    QVERIFY(optional.cells[0].status == Status::Info);
    QCOMPARE(optional.cells[2].text, u"no NVRTC"_s);
    QVERIFY(!table->isColumnHidden(3));
    // In a narrow window the remedy takes more lines and stays in view.
    const std::string remedy =
        "set HEDDLE_PYTHON to an interpreter with torch 2.9 or newer, or run ./dev build";
    CheckUpView narrow;
    narrow.setCheckUp({{{"id", "torch"}, {"ok", false}, {"missing", remedy}, {"next", remedy}}});
    narrow.resize(460, 400);
    narrow.show();
    const auto *rows = narrow.findChild<DataTable *>();
    QTRY_VERIFY(rows->rowHeight(0) > 2 * rows->fontMetrics().height());
    QTRY_VERIFY(rows->height() >= rows->rowHeight(0) + rows->horizontalHeader()->height());
    QVERIFY(rows->columnViewportPosition(3) + rows->columnWidth(3) <= rows->viewport()->width());
    narrow.setCheckUp({{{"id", "torch"}, {"ok", true}, {"found", "torch"}}});
    QVERIFY2(rows->isColumnHidden(3), "nothing is missing, so there is nothing to get");
}

void ViewsTest::manyEventsAreLaidOutBitByBit()
{
    TranscriptView view;
    std::vector<Event> events;
    for (int number = 1; number <= 3000; ++number)
        events.push_back(eventOf(number, "note", {{"text", "note " + std::to_string(number)}}));
    view.appendEvents(events);
    QVERIFY(view.waitingCount() > 0);
    QTRY_COMPARE(view.waitingCount(), std::size_t(0));
    QVERIFY(view.lineCount() < 3000);
    const QString text = view.toPlainText();
    QVERIFY(text.contains(u"note 3000"_s));
    QVERIFY(!text.contains(u"note 1\n"_s));
    QCOMPARE(text.count(u"note 2500"_s), 1);
}

void ViewsTest::decisionsAreNewestFirstAndOfferWhatIsPossible()
{
    DecisionList list;
    DecisionItem accepted;
    accepted.event = 5;
    accepted.decision = u"accept"_s;
    accepted.taskPath = u"a.py"_s;
    accepted.revision = u"r1"_s;
    accepted.isHead = true;
    DecisionItem rejected;
    rejected.event = 9;
    rejected.decision = u"reject"_s;
    rejected.reason = u"slower"_s;
    rejected.comment = u"twice"_s;
    list.setDecisions({accepted, rejected});
    const auto *table = list.findChild<DataTable *>();
    QCOMPARE(table->rows()->rows().front().key, u"9"_s);
    QCOMPARE(table->rows()->rows().front().cells[3].text, u"slower: twice"_s);
    const auto buttons = list.findChildren<QPushButton *>();
    const auto find = [&buttons](const QString &name) {
        return *std::find_if(buttons.begin(), buttons.end(),
                             [&name](const QPushButton *button) { return button->accessibleName() == name; });
    };
    QPushButton *undo = find(u"Undo the selected decision"_s);
    QPushButton *restore = find(u"Restore the selected revision"_s);
    QVERIFY(undo->isEnabled());
    QVERIFY2(!restore->isEnabled(), "a rejection landed nothing");
    list.selectDecision(5);
    QVERIFY2(!restore->isEnabled(), "it is the head already");
    accepted.isHead = false;
    accepted.isUndone = true;
    list.setDecisions({accepted, rejected});
    QVERIFY(!undo->isEnabled());
    QSignalSpy spy(&list, &DecisionList::restoreRequested);
    restore->click();
    QCOMPARE(spy.count(), 1);
    QCOMPARE(spy.front().at(1).toString(), u"r1"_s);
}

QTEST_MAIN(ViewsTest)
#include "ViewsTest.moc"
