// SPDX-License-Identifier: Apache-2.0
// What the window is made of, without a window on screen.
#include "app/gui/EventMirror.h"
#include "app/gui/JobBridge.h"
#include "app/gui/JudgeInput.h"
#include "app/gui/UserFiles.h"
#include "tests/support/FakeWorkbench.h"
#include "tests/support/GuiFixture.h"

#include <QSignalSpy>
#include <QThread>

#include <atomic>

using namespace Qt::StringLiterals;
using namespace heddle;
namespace fs = std::filesystem;

class PiecesTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void aHeadFileBelongsToTheTaskBesideItsFolder_data();
    void aHeadFileBelongsToTheTaskBesideItsFolder();
    void openTextReplacesTheDiskWhenJudging();
    void aModelNewFileIsJudgedAgainstTheSelectedTask();
    void nothingToJudgeSaysWhatToDo();
    void aConfirmedVerdictIsNotHiddenByALaterQuickOne();
    void aVerdictOnAnotherTextOfTheTaskIsOutdated();
    void theLastDecisionIsTheOneNobodyUndid();
    void theHeadIsWhatLandedLastUnlessThatWasTakenBack();
    void recentWorkIsNewestFirstAndWithoutRepeats();
    void trustOfOneFolderIsNotTrustOfItsParent();
    void resultsComeOnTheGuiThread();
    void aResultForADeadOwnerIsDropped();
    void progressIsThrottled();

private:
    std::unique_ptr<testing::GuiFixture> m_fixture;
};

void PiecesTest::init()
{
    m_fixture = std::make_unique<testing::GuiFixture>();
    testing::GuiFixture::failOnWarnings();
}

void PiecesTest::aHeadFileBelongsToTheTaskBesideItsFolder_data()
{
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("task");
    QTest::newRow("plain") << u"/w/a.heddle/kernel.cpp"_s << u"a.py"_s;
    QTest::newRow("deeper") << u"/w/sub/a.heddle/src/kernel.cpp"_s << u"sub/a.py"_s;
    QTest::newRow("task itself") << u"/w/a.py"_s << QString();
    QTest::newRow("outside") << u"/other/a.heddle/kernel.cpp"_s << QString();
}

void PiecesTest::aHeadFileBelongsToTheTaskBesideItsFolder()
{
    QFETCH(const QString, file);
    QFETCH(const QString, task);
    QCOMPARE(QString::fromStdString(taskOfHeadFile("/w", file.toStdString())), task);
}

void PiecesTest::openTextReplacesTheDiskWhenJudging()
{
    const fs::path work = m_fixture->path();
    const fs::path head = work / "a.heddle";
    QVERIFY(makeFolder(head));
    QVERIFY(writeTree(head, {{"plan.json", "{}"}, {"kernel.cpp", "old"}}));
    const auto input = judgeInput(work, head / "kernel.cpp", {}, {{(head / "kernel.cpp").string(), "typed"}});
    QVERIFY(input.has_value());
    QCOMPARE(input->taskPath, std::string("a.py"));
    QVERIFY((input->files == FileTree{{"plan.json", "{}"}, {"kernel.cpp", "typed"}}));
}

void PiecesTest::aModelNewFileIsJudgedAgainstTheSelectedTask()
{
    const fs::path file = m_fixture->path() / "mine.py";
    const std::string text = "import torch\nclass ModelNew(torch.nn.Module):\n    pass\n";
    QVERIFY(writeFileAtomically(file, text));
    const auto input = judgeInput(m_fixture->path(), file, "a.py", {});
    QVERIFY(input.has_value());
    QCOMPARE(input->taskPath, std::string("a.py"));
    QVERIFY((input->files == FileTree{{"model_new.py", text}}));
    QVERIFY(!judgeInput(m_fixture->path(), file, {}, {}).has_value());
}

void PiecesTest::nothingToJudgeSaysWhatToDo()
{
    const fs::path file = m_fixture->path() / "a.py";
    QVERIFY(writeFileAtomically(file, "class Model: pass\n"));
    const auto input = judgeInput(m_fixture->path(), file, "a.py", {});
    QVERIFY(!input.has_value());
    QCOMPARE(input.error().code(), Code::NotFound);
    QVERIFY(!input.error().next().empty());
}

void PiecesTest::aConfirmedVerdictIsNotHiddenByALaterQuickOne()
{
    EventMirror mirror;
    StoreNews news;
    news.events = {{1,
                    "s",
                    "",
                    "system",
                    "judged",
                    {{"candidate", "c"},
                     {"task_digest", "d"},
                     {"report", FakeWorkbench::report("confirmed", "clean", "c")}}},
                   {2,
                    "s",
                    "",
                    "system",
                    "judged",
                    {{"candidate", "c"},
                     {"task_digest", "d"},
                     {"report", FakeWorkbench::report("quick", "clean", "c")}}}};
    news.taskDigests = {{"a.py", "d"}};
    mirror.apply(std::move(news));
    QCOMPARE(mirror.verdictEvent("c", "a.py"), std::int64_t(1));
    const ShownVerdict verdict = mirror.verdict("c", "a.py");
    QVERIFY(verdict.report != nullptr);
    QCOMPARE(stringOr(*verdict.report, "stage"), std::string("confirmed"));
    QVERIFY(!verdict.isOutdated);
}

void PiecesTest::aVerdictOnAnotherTextOfTheTaskIsOutdated()
{
    EventMirror mirror;
    const auto look = [&mirror](const char *digest, std::vector<Event> events) {
        StoreNews news;
        news.sessions = {{"s", "a.py", "d1", "cpu", "builtin", "running", "", ""}};
        news.events = std::move(events);
        news.taskDigests = {{"a.py", digest}};
        mirror.apply(std::move(news));
    };
    const auto judged = [](std::int64_t id, const char *digest, const char *word) {
        return Event{id,
                     "s",
                     "",
                     "system",
                     "judged",
                     {{"candidate", "c"},
                      {"task_digest", digest},
                      {"report", FakeWorkbench::report("confirmed", word, "c")}}};
    };
    look("d1", {judged(1, "d1", "clean")});
    QVERIFY(!mirror.verdict("c", "a.py").isOutdated);
    QCOMPARE(mirror.bestCandidate("a.py"), std::string("c"));
    look("d2", {});
    QVERIFY(mirror.verdict("c", "a.py").isOutdated);
    QVERIFY(mirror.taskVerdicts().at("a.py").isOutdated);
    QCOMPARE(mirror.bestCandidate("a.py"), std::string());
    look("d2", {judged(2, "d2", "wrong")});
    QVERIFY(!mirror.verdict("c", "a.py").isOutdated);
    QCOMPARE(mirror.verdictEvent("c", "a.py"), std::int64_t(2));
    // The text of before has its own verdict still.
    look("d1", {});
    QCOMPARE(mirror.verdictEvent("c", "a.py"), std::int64_t(1));
    QVERIFY(mirror.taskVerdicts().at("a.py").isOutdated);
}

void PiecesTest::theLastDecisionIsTheOneNobodyUndid()
{
    EventMirror mirror;
    StoreNews news;
    DecisionRow first;
    first.event = 4;
    first.proposal = "p";
    DecisionRow second = first;
    second.event = 9;
    second.undoneBy = 10;
    news.decisions = {first, second};
    mirror.apply(std::move(news));
    QVERIFY(mirror.lastDecision("p").has_value());
    QCOMPARE(mirror.lastDecision("p")->event, std::int64_t(4));
    QVERIFY(!mirror.lastDecision("other").has_value());
}

void PiecesTest::theHeadIsWhatLandedLastUnlessThatWasTakenBack()
{
    EventMirror mirror;
    const auto add = [&mirror](std::int64_t id, const char *type, const Json &data) {
        StoreNews news;
        news.events = {{id, "", "", "person", type, data}};
        mirror.apply(std::move(news));
    };
    QCOMPARE(mirror.headRevision("a.py"), std::string());
    add(1, "landed", {{"task_path", "a.py"}, {"revision", "r1"}, {"previous", ""}});
    add(2, "landed", {{"task_path", "b.py"}, {"revision", "other"}, {"previous", ""}});
    QCOMPARE(mirror.headRevision("a.py"), std::string("r1"));
    // A rejection taken back leaves the head alone; a landing taken back does not.
    add(3, "undone", {{"task_path", "a.py"}, {"revision", ""}, {"previous", ""}});
    QCOMPARE(mirror.headRevision("a.py"), std::string("r1"));
    add(4, "undone", {{"task_path", "a.py"}, {"revision", ""}, {"previous", "r1"}});
    QCOMPARE(mirror.headRevision("a.py"), std::string());
}

void PiecesTest::recentWorkIsNewestFirstAndWithoutRepeats()
{
    for (const char *name : {"a", "b", "a"})
        QVERIFY(userFiles::addRecent(m_fixture->path() / name));
    const std::vector<std::string> list = userFiles::recent();
    QCOMPARE(list.size(), std::size_t(2));
    QCOMPARE(fs::path(list.front()).filename().string(), std::string("a"));
}

void PiecesTest::trustOfOneFolderIsNotTrustOfItsParent()
{
    const fs::path folder = m_fixture->path() / "child";
    QVERIFY(makeFolder(folder));
    QVERIFY(userFiles::trust(folder));
    QVERIFY(userFiles::isTrusted(folder));
    QVERIFY(userFiles::isTrusted(folder / ".." / "child"));
    QVERIFY(!userFiles::isTrusted(m_fixture->path()));
    QVERIFY(!userFiles::isTrusted(folder / "below"));
}

void PiecesTest::resultsComeOnTheGuiThread()
{
    JobBridge jobs;
    QThread *thread = nullptr;
    std::atomic<bool> isOther = false;
    const QThread *gui = QThread::currentThread();
    jobs.run<int>(
        Lane::io(), JobKind::Quiet, {}, this,
        [&isOther, gui](const CancelToken &, const ProgressSink &) {
            isOther = QThread::currentThread() != gui;
            return 7;
        },
        [&thread](int) { thread = QThread::currentThread(); });
    QTRY_COMPARE(thread, QThread::currentThread());
    QVERIFY(isOther);
}

void PiecesTest::aResultForADeadOwnerIsDropped()
{
    JobBridge jobs;
    bool isCalled = false;
    auto owner = std::make_unique<QObject>();
    std::atomic<bool> isReleased = false;
    jobs.run<int>(
        Lane::io(), JobKind::Quiet, {}, owner.get(),
        [&isReleased](const CancelToken &, const ProgressSink &) {
            while (!isReleased)
                QThread::msleep(1);
            return 1;
        },
        [&isCalled](int) { isCalled = true; });
    owner.reset();
    isReleased = true;
    bool isNextDone = false;
    jobs.run<int>(
        Lane::io(), JobKind::Quiet, {}, this, [](const CancelToken &, const ProgressSink &) { return 2; },
        [&isNextDone](int) { isNextDone = true; });
    QTRY_VERIFY(isNextDone);
    QVERIFY(!isCalled);
}

void PiecesTest::progressIsThrottled()
{
    JobBridge jobs;
    const QSignalSpy shown(&jobs, &JobBridge::jobProgressed);
    bool isDone = false;
    jobs.run<int>(
        Lane::cpu(), JobKind::Shown, u"count"_s, this,
        [](const CancelToken &, const ProgressSink &progress) {
            for (int step = 0; step < 20000; ++step)
                progress({"counting", step / 20000.0, {}});
            return 0;
        },
        [&isDone](int) { isDone = true; });
    QElapsedTimer time;
    time.start();
    QTRY_VERIFY(isDone);
    QVERIFY2(shown.count() <= 3 + time.elapsed() / 33, qPrintable(QString::number(shown.count())));
}

QTEST_MAIN(PiecesTest)
#include "PiecesTest.moc"
