// SPDX-License-Identifier: Apache-2.0
// No handler of the window uses much processor time, however long the history of its workspace is.
#include "app/gui/DocumentArea.h"
#include "app/gui/HandlerClock.h"
#include "app/gui/MainWindow.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WorkDocks.h"
#include "tests/support/FakeWorkbench.h"
#include "tests/support/GuiFixture.h"
#include "widgets/common/Text.h"
#include "widgets/results/ResultsView.h"
#include "widgets/tasks/TaskTree.h"

#include <QHash>

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace heddle;
namespace fs = std::filesystem;

namespace {

constexpr double limitMs = 50.0;
/// For other processors and a build without optimisation; a sanitizer takes several times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr double slack = 15.0;
#else
constexpr double slack = 3.0;
#endif
constexpr int candidates = 150;
constexpr int notes = 2000;

} // namespace

class SpeedTest : public QObject {
    Q_OBJECT

private slots:
    void aLongHistoryOpensWithoutAStutter();
    void anotherThemeStylesEachWidgetAtMostTwice();

private:
    void writeHistory(const fs::path &work);
};

/// One long session: many judged candidates, proposals and notes.
void SpeedTest::writeHistory(const fs::path &work)
{
    const auto store = Store::open(work);
    QVERIFY(store.has_value());
    const auto append = [&store](const char *actor, const char *type, const Json &data) {
        const auto event = (*store)->append("s-history", actor, type, data);
        QVERIFY2(event.has_value(), event ? "" : event.error().text().c_str());
    };
    append("builtin", "session_started",
           {{"task", {{"name", "a"}, {"path", "a.py"}, {"digest", "d"}}},
            {"target", "cpu"},
            {"policy", "builtin"}});
    append("system", "baseline_measured", {{"baselines", FakeWorkbench::baselines()}});
    for (int number = 0; number < candidates; ++number) {
        FileTree files = FakeWorkbench::proposedFiles();
        files["kernel.cpp"] += "// " + std::to_string(number) + "\n";
        const auto digest = (*store)->putTree(files);
        QVERIFY(digest.has_value());
        append("builtin", "candidate_created",
               {{"candidate", *digest}, {"parent", ""}, {"format", "native"}, {"plan_item", "item-1"}});
        append("system", "judged",
               {{"candidate", *digest},
                {"stage", "confirmed"},
                {"report", FakeWorkbench::report("confirmed", "clean", *digest)},
                {"task_digest", "t"}});
        append("builtin", "proposal_opened",
               {{"proposal", "p-" + std::to_string(number)},
                {"task_path", "a.py"},
                {"candidate", *digest},
                {"base", ""},
                {"item", "item-" + std::to_string(number)},
                {"summary", "One more pass less"}});
    }
    for (int number = 0; number < notes; ++number)
        append("builtin", "note", {{"text", "The tiles of this size fit, so the next one is tried."}});
    append("builtin", "session_ended", {{"reason", "done"}, {"message", ""}});
}

void SpeedTest::aLongHistoryOpensWithoutAStutter()
{
    testing::GuiFixture::failOnWarnings();
    const testing::GuiFixture fixture;
    const fs::path work = fixture.path() / "work";
    QVERIFY(makeFolder(work));
    QVERIFY(writeFileAtomically(work / "a.py", "class Model:\n    pass\n"));
    writeHistory(work);
    if (QTest::currentTestFailed())
        return;
    QVERIFY(userFiles::trust(work));
    WindowSetup setup;
    setup.environment.resources = fs::path(HEDDLE_SOURCE_DIR) / "resources";
    setup.factory = [](const Environment &, const fs::path &workspace, const std::string &) {
        return FakeWorkbench::create(workspace, {});
    };
    setup.systemPalette = Theme::light().palette();
    MainWindow window(std::move(setup));
    window.resize(1440, 900);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    auto &clock = *static_cast<HandlerClock *>(QApplication::instance());
    clock.start();
    window.openPath(pathText(work));
    QTRY_COMPARE_WITH_TIMEOUT(window.controller()->mirror().events().size(),
                              std::size_t(candidates * 3 + notes + 3), 60000);
    QTRY_COMPARE(window.docks()->results()->rowCount(), candidates + 3);
    QVERIFY(window.openProposal(0));
    QTest::qWait(300);
    window.controller()->baseline({"a.py", std::nullopt});
    QTRY_VERIFY(!window.jobs().hasShownJobs());
    QTest::qWait(300);
    QVERIFY(clock.handled() > 0);
    for (const HandlerTime &one : clock.longest())
        qInfo("%.1f ms: %s", one.milliseconds, qPrintable(one.what));
    QVERIFY2(clock.longest().front().milliseconds < limitMs * slack,
             qPrintable(clock.longest().front().what));
    for (const Appearance appearance : {Appearance::Dark, Appearance::Light}) {
        clock.start();
        QMetaObject::invokeMethod(
            &window, [&window, appearance] { window.setAppearance(appearance); }, Qt::QueuedConnection);
        QTest::qWait(300);
        QVERIFY(!clock.longest().empty());
        qInfo("another theme: %.1f ms", clock.longest().front().milliseconds);
        QVERIFY(clock.longest().front().milliseconds < limitMs * slack);
    }
}

/// What counts how often it was styled.
class StyleCounter : public QObject {
public:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (event->type() == QEvent::StyleChange && watched->isWidgetType())
            ++m_count[watched];
        return false;
    }
    int most() const { return m_count.isEmpty() ? 0 : *std::max_element(m_count.begin(), m_count.end()); }
    qsizetype widgets() const { return m_count.size(); }
    void reset() { m_count.clear(); }

private:
    QHash<const QObject *, int> m_count;
};

void SpeedTest::anotherThemeStylesEachWidgetAtMostTwice()
{
    testing::GuiFixture::failOnWarnings();
    const testing::GuiFixture fixture;
    WindowSetup setup;
    setup.environment.resources = fs::path(HEDDLE_SOURCE_DIR) / "resources";
    setup.systemPalette = Theme::light().palette();
    MainWindow window(std::move(setup));
    window.resize(1440, 900);
    window.show();
    QVERIFY(QTest::qWaitForWindowExposed(&window));
    StyleCounter counter;
    qApp->installEventFilter(&counter);
    for (const Appearance appearance : {Appearance::Dark, Appearance::Light}) {
        counter.reset();
        window.setAppearance(appearance);
        QTest::qWait(50);
        QVERIFY(counter.widgets() > 50);
        QVERIFY2(counter.most() <= 2, qPrintable(QString::number(counter.most())));
    }
    qApp->removeEventFilter(&counter);
}

int main(int argc, char **argv)
{
    HandlerClock application(argc, argv);
    SpeedTest test;
    return QTest::qExec(&test, argc, argv);
}
#include "SpeedTest.moc"
