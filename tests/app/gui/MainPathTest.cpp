// SPDX-License-Identifier: Apache-2.0
// The main path in the window over a real store and a fake workbench, driven by accessible names.
#include "app/gui/AccessibleTree.h"
#include "app/gui/DocumentArea.h"
#include "app/gui/MainWindow.h"
#include "app/gui/UserFiles.h"
#include "app/gui/WindowActions.h"
#include "app/gui/WorkDocks.h"
#include "tests/support/FakeWorkbench.h"
#include "tests/support/GuiFixture.h"
#include "widgets/chat/TranscriptView.h"
#include "widgets/common/Report.h"
#include "widgets/common/Text.h"
#include "widgets/editor/BufferJournal.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/editor/EditorStyle.h"
#include "widgets/evidence/EvidenceView.h"
#include "widgets/plan/PlanView.h"
#include "widgets/results/ProblemsView.h"
#include "widgets/results/ResultsView.h"
#include "widgets/review/ApproveGuard.h"
#include "widgets/review/DiffModel.h"
#include "widgets/review/DiffView.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/tasks/DecisionList.h"
#include "widgets/tasks/ProposalList.h"
#include "widgets/tasks/TaskTree.h"

#include <QApplication>
#include <QImage>
#include <QPainter>

#include <mutex>
#include <optional>
#include <set>

using namespace Qt::StringLiterals;
using namespace heddle;
namespace fs = std::filesystem;

namespace {

const char *const taskText = R"(import torch
import torch.nn as nn


class Model(nn.Module):
    """Scale, shift and clip."""

    def __init__(self, scale: float, shift: float):
        super().__init__()
        self.scale = scale
        self.shift = shift

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * self.scale + self.shift)


def get_inputs():
    return [torch.randn(2048, 2048)]


def get_init_inputs():
    return [1.5, 0.25]
)";

} // namespace

class MainPathTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void nothingRunsBeforeTheFolderIsTrusted();
    void trustIsRememberedForTheUserOutsideTheWorkspace();
    void aBaselineIsShownWithItsIntervals();
    void optimiseFillsPlanTranscriptAndProposals();
    void everyFigureOfTheTranscriptLinksToItsEvent();
    void acceptingLandsTheFilesAndUndoTakesItBack();
    void anEditedTaskMakesItsVerdictOneOfAnotherVersion();
    void rejectingAsksForAReasonAndRecordsIt();
    void acceptingAPartIsJudgedAtOnceAsANewCandidate();
    void judgeTakesTheTextOnScreen();
    void aBuildErrorStandsAtItsLine();
    void aSlowJobCanBeCancelled();
    void aFailureSaysWhatToDoNext();
    void unsavedTextComesBackAfterACrash();
    void everyControlHasANameInEveryState();
    void shortcutsAndIdsAreUnique();
    void noNumberIsShownBeforeAnythingWasMeasured();
    void theThemeReachesEveryView();
    void anExportIsShownBeforeAnythingIsWritten();
    void anyDecisionCanBeUndoneAndItsRevisionRestored();
    void aMixedReviewRecordsTheReasonOfEachHunk();
    void aFolderWithoutTasksSaysWhatATaskIs();
    void themeAndSizeOfCodeAreKeptInTheSettings();
    void theStatusBarTellsHowTheMachineStands();
    void judgementsKeepToTheToleranceOfTheSettings();
    void sessionsRunWhereTheSettingSays_data();
    void sessionsRunWhereTheSettingSays();

private:
    void openWindow(bool isTrusted);
    void openEditor(const QString &path);
    void press(const QString &name);
    void openFirstProposal();
    std::vector<Event> events(const std::string &type) const;
    void grab(const QString &name);

    std::unique_ptr<testing::GuiFixture> m_fixture;
    FakeSwitches m_switches;
    std::optional<std::string> m_chosenTarget;
    std::mutex m_targetsMutex;
    std::set<std::string> m_targets; ///< that a workbench was made for
    std::unique_ptr<MainWindow> m_window;
};

void MainPathTest::init()
{
    testing::GuiFixture::failOnWarnings();
    m_fixture = std::make_unique<testing::GuiFixture>();
    m_switches = {};
    m_chosenTarget.reset();
    m_targets.clear();
    QVERIFY(makeFolder(m_fixture->path() / "work"));
    QVERIFY(writeFileAtomically(m_fixture->path() / "work" / "scale_shift.py", taskText));
    QVERIFY(writeFileAtomically(m_fixture->path() / "work" / "notes.py", "x = 1\n"));
}

void MainPathTest::cleanup()
{
    m_window.reset();
    m_fixture.reset();
}

void MainPathTest::openWindow(bool isTrusted)
{
    const fs::path work = m_fixture->path() / "work";
    if (isTrusted)
        QVERIFY(userFiles::trust(work));
    WindowSetup setup;
    setup.environment.resources = fs::path(HEDDLE_SOURCE_DIR) / "resources";
    setup.target = m_chosenTarget;
    setup.factory = [this](const Environment &, const fs::path &workspace, const std::string &target) {
        // On several lanes, so they may come at once.
        const std::scoped_lock lock(m_targetsMutex);
        m_targets.insert(target);
        return FakeWorkbench::create(workspace, m_switches);
    };
    setup.systemPalette = Theme::light().palette();
    m_window = std::make_unique<MainWindow>(std::move(setup));
    m_window->resize(1440, 900);
    m_window->show();
    m_window->openPath(pathText(work));
    QTRY_COMPARE(m_window->docks()->tasks()->taskCount(), 1);
    // Its task opens by itself, or what a crash left.
    QTRY_VERIFY(m_window->documents()->currentEditor() != nullptr);
}

void MainPathTest::openEditor(const QString &path)
{
    m_window->documents()->openFile(path);
    QTRY_VERIFY(m_window->documents()->currentEditor() != nullptr
                && m_window->documents()->currentEditor()->path() == path);
}

void MainPathTest::press(const QString &name)
{
    // A press answers after the button's moment of being down, so what it opens comes a little later.
    std::string refusal;
    const auto isPressed = [this, &name, &refusal] {
        const Result<void> pressed = accessibleTree::press(m_window.get(), name);
        refusal = pressed ? std::string() : pressed.error().text();
        return pressed.has_value();
    };
    QVERIFY2(QTest::qWaitFor(isPressed), refusal.c_str());
}

std::vector<Event> MainPathTest::events(const std::string &type) const
{
    std::vector<Event> found;
    for (const Event &event : m_window->controller()->mirror().events()) {
        if (event.type == type)
            found.push_back(event);
    }
    return found;
}

void MainPathTest::openFirstProposal()
{
    press(u"Optimise"_s);
    QTRY_COMPARE(m_window->docks()->proposals()->openCount(), 1);
    const QString id = toText(m_window->controller()->mirror().proposals().front().id);
    emit m_window->docks()->proposals()->proposalActivated(id);
    QTRY_VERIFY(m_window->documents()->currentProposal() != nullptr);
    QTRY_COMPARE(m_window->documents()->currentProposal()->diff()->hunkCount(), 2);
    // An approval is armed only after a moment of rest.
    QTest::qWait(ApproveGuard::restMilliseconds + 50);
}

/// Pictures for a person to look at, only when asked for.
void MainPathTest::grab(const QString &name)
{
    const QString folder = qEnvironmentVariable("HEDDLE_GRAB_FOLDER");
    if (folder.isEmpty())
        return;
    for (const auto &[appearance, word] :
         {std::pair{Appearance::Light, u"light"_s}, {Appearance::Dark, u"dark"_s}}) {
        m_window->setAppearance(appearance);
        for (const double scale : {1.0, 2.0}) {
            QImage image(m_window->size() * scale, QImage::Format_RGB32);
            image.setDevicePixelRatio(scale);
            QPainter painter(&image);
            m_window->render(&painter);
            painter.end();
            QVERIFY(image.save(u"%1/%2-%3-%4x.png"_s.arg(folder, name, word).arg(scale)));
        }
    }
    m_window->setAppearance(Appearance::Light);
}

void MainPathTest::nothingRunsBeforeTheFolderIsTrusted()
{
    openWindow(false);
    for (const QAction *action : m_window->actions().runActions())
        QVERIFY2(!action->isEnabled(), qPrintable(action->objectName()));
    openEditor(pathText(m_fixture->path() / "work" / "scale_shift.py"));
    grab(u"02-trust"_s);
    QVERIFY(events("session_started").empty());
    press(u"Trust this folder"_s);
    QTRY_VERIFY(m_window->actions().baseline->isEnabled());
    QTRY_COMPARE(events("trusted").size(), std::size_t(1));
}

void MainPathTest::trustIsRememberedForTheUserOutsideTheWorkspace()
{
    openWindow(false);
    const fs::path work = m_fixture->path() / "work";
    QVERIFY(!userFiles::isTrusted(work));
    press(u"Trust this folder"_s);
    QTRY_VERIFY(userFiles::isTrusted(work));
    const auto tree = readTree(configFolder());
    QVERIFY(tree.has_value() && !tree->empty());
}

void MainPathTest::aBaselineIsShownWithItsIntervals()
{
    openWindow(true);
    press(u"Baseline"_s);
    QTRY_VERIFY(m_window->documents()->currentReport() != nullptr);
    QTRY_COMPARE(m_window->docks()->results()->rowCount(), 3);
    const QStringList texts = accessibleTree::texts(m_window.get());
    QVERIFY2(texts.contains(u"3.90 ms (3.85 to 3.97)"_s), qPrintable(texts.join(u'\n')));
    QTRY_COMPARE(events("session_ended").size(), std::size_t(1));
    grab(u"03-baseline"_s);
}

void MainPathTest::optimiseFillsPlanTranscriptAndProposals()
{
    openWindow(true);
    m_window->documents()->openFile(pathText(m_fixture->path() / "work" / "scale_shift.py"));
    press(u"Optimise"_s);
    QTRY_COMPARE(m_window->docks()->proposals()->openCount(), 1);
    QCOMPARE(m_window->docks()->plan()->itemCount(), 1);
    QTRY_VERIFY(m_window->docks()->transcript()->toPlainText().contains(u"One fused pass"_s));
    QTRY_COMPARE(m_window->docks()->results()->rowCount(), 4);
    grab(u"04-optimised"_s);
}

void MainPathTest::everyFigureOfTheTranscriptLinksToItsEvent()
{
    openWindow(true);
    press(u"Optimise"_s);
    QTRY_COMPARE(m_window->docks()->proposals()->openCount(), 1);
    const std::int64_t baseline = events("baseline_measured").front().id;
    const std::vector<Event> notes = events("note");
    QCOMPARE(notes.size(), std::size_t(1));
    const std::vector<Fragment> parts = EventText::fragments(notes.front());
    QVERIFY(std::any_of(parts.begin(), parts.end(), [baseline](const Fragment &part) {
        return part.kind == Fragment::Kind::Link && part.text == u"3.90 ms" && part.event == baseline;
    }));
    emit m_window->docks()->transcript()->eventActivated(baseline);
    QVERIFY(m_window->documents()->currentReport() != nullptr);
    QCOMPARE(m_window->documents()->currentReport()->heading(), u"Baseline"_s);
}

void MainPathTest::acceptingLandsTheFilesAndUndoTakesItBack()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    // Of the times the confirmed ones, both from the run of that verdict.
    const QString heading = Report::proposalHeading(
        u"One fused pass for mul, add and relu"_s,
        FakeWorkbench::report("confirmed", "clean", events("judged").back().data["candidate"]));
    QVERIFY(heading.contains(u"against"_s) && heading.contains(u"confirmed"_s));
    QVERIFY(accessibleTree::texts(m_window.get()).contains(heading));
    grab(u"05-proposal"_s);
    press(u"Open the evidence of this proposal"_s);
    QTRY_VERIFY(m_window->documents()->currentReport() != nullptr);
    QCOMPARE(m_window->documents()->currentReport()->heading(), u"Clean"_s);
    grab(u"06-evidence"_s);
    QVERIFY(m_window->openProposal(0));
    press(u"Accept the whole proposal"_s);
    const fs::path kernel = m_fixture->path() / "work" / "scale_shift.heddle" / "kernel.cpp";
    QTRY_VERIFY(fs::exists(kernel));
    QTRY_COMPARE(m_window->documents()->currentProposal()->proposal().state, u"accepted"_s);
    grab(u"07-accepted"_s);
    QTRY_VERIFY(m_window->documents()->currentProposal()->isEnabled());
    press(u"Undo the last decision"_s);
    QTRY_COMPARE(events("undone").size(), std::size_t(1));
}

void MainPathTest::anEditedTaskMakesItsVerdictOneOfAnotherVersion()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    const fs::path task = m_fixture->path() / "work" / "scale_shift.py";
    const auto isShownOutdated = [this] {
        return accessibleTree::texts(m_window.get())
                   .filter(u"Clean, for another version of the task"_s)
                   .size()
            > 0;
    };
    QVERIFY(!isShownOutdated());
    QVERIFY(m_window->actions().exportCode->isEnabled());
    QVERIFY(writeFileAtomically(task, std::string(taskText) + "# edited\n"));
    QTRY_VERIFY(isShownOutdated());
    QVERIFY(!m_window->actions().exportCode->isEnabled());
    // The text of the verdict comes back, and the verdict with it.
    QVERIFY(writeFileAtomically(task, taskText));
    QTRY_VERIFY(!isShownOutdated());
    QVERIFY(m_window->actions().exportCode->isEnabled());
}

void MainPathTest::rejectingAsksForAReasonAndRecordsIt()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    press(u"Reject the whole proposal"_s);
    grab(u"08-reason"_s);
    press(u"Reason 2 Slower"_s);
    QTRY_COMPARE(events("decided").size(), std::size_t(1));
    QCOMPARE(stringOr(events("decided").front().data, "reason"), std::string("slower"));
    QCOMPARE(events("decided").front().actor, std::string("person"));
    QTRY_COMPARE(m_window->documents()->currentProposal()->proposal().state, u"rejected"_s);
}

void MainPathTest::acceptingAPartIsJudgedAtOnceAsANewCandidate()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    const std::size_t judged = events("judged").size();
    DiffView *view = m_window->documents()->currentProposal()->view();
    QTest::keyClick(view, Qt::Key_Y);
    QCOMPARE(m_window->documents()->currentProposal()->diff()->markedCount(HunkMark::Accepted), 1);
    grab(u"09-part"_s);
    press(u"Land the accepted hunks"_s);
    QTRY_COMPARE(events("decided").size(), std::size_t(1));
    QCOMPARE(stringOr(events("decided").front().data, "decision"), std::string("accept_in_part"));
    QTRY_COMPARE(events("judged").size(), judged + 1);
}

void MainPathTest::judgeTakesTheTextOnScreen()
{
    const fs::path head = m_fixture->path() / "work" / "scale_shift.heddle";
    QVERIFY(makeFolder(head));
    QVERIFY(writeTree(head, FakeWorkbench::proposedFiles()));
    openWindow(true);
    openEditor(pathText(head / "kernel.cpp"));
    m_window->documents()->currentEditor()->editor()->replaceText(u"// not saved\n"_s);
    press(u"Judge"_s);
    QTRY_COMPARE(events("judged").size(), std::size_t(1));
    FileTree expected = FakeWorkbench::proposedFiles();
    expected["kernel.cpp"] = "// not saved\n";
    const auto store = Store::open(m_fixture->path() / "work");
    QVERIFY(store.has_value());
    const auto tree = (*store)->tree(stringOr(events("judged").front().data, "candidate"));
    QVERIFY(tree.has_value());
    QVERIFY(*tree == expected);
    QVERIFY(*readFile(head / "kernel.cpp") == FakeWorkbench::proposedFiles().at("kernel.cpp"));
}

void MainPathTest::aBuildErrorStandsAtItsLine()
{
    m_switches.failsToBuild = true;
    const fs::path head = m_fixture->path() / "work" / "scale_shift.heddle";
    QVERIFY(makeFolder(head));
    QVERIFY(writeTree(head, FakeWorkbench::proposedFiles()));
    openWindow(true);
    openEditor(pathText(head / "kernel.cpp"));
    press(u"Judge"_s);
    QTRY_COMPARE(m_window->docks()->problems()->errorCount(), 1);
    QTRY_COMPARE(m_window->documents()->currentEditor()->editor()->annotationAt(8),
                 u"expected ';' before 'out'"_s);
    grab(u"10-problem"_s);
}

void MainPathTest::aSlowJobCanBeCancelled()
{
    m_switches.isSlow = true;
    openWindow(true);
    press(u"Baseline"_s);
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).filter(u"measuring eager"_s).size() > 0);
    grab(u"11-running"_s);
    press(u"Cancel the running job"_s);
    QTRY_COMPARE(events("session_ended").size(), std::size_t(1));
    QCOMPARE(stringOr(events("session_ended").front().data, "reason"), std::string("cancelled"));
    QTRY_VERIFY(!m_window->actions().cancel->isEnabled());
}

void MainPathTest::aFailureSaysWhatToDoNext()
{
    m_switches.failsBaseline = true;
    openWindow(true);
    press(u"Baseline"_s);
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"set HEDDLE_PYTHON to one"_s));
    grab(u"12-error"_s);
}

void MainPathTest::unsavedTextComesBackAfterACrash()
{
    openWindow(true);
    const QString path = pathText(m_fixture->path() / "work" / "scale_shift.py");
    openEditor(path);
    m_window->documents()->currentEditor()->editor()->replaceText(u"# typed and never saved\n"_s);
    const BufferJournal journal(userFiles::journalFolder(m_fixture->path() / "work"));
    QTRY_COMPARE(journal.entries().size(), std::size_t(1));
    // The journal is all that a crash leaves; nothing else of the first window is used.
    m_window.reset();
    openWindow(true);
    QTRY_VERIFY(m_window->documents()->findEditor(path) != nullptr);
    const EditorDocument *editor = m_window->documents()->findEditor(path);
    QCOMPARE(editor->editor()->text(), u"# typed and never saved\n"_s);
    QVERIFY(editor->isModified());
    QVERIFY(*readFile(toPath(path)) == taskText);
}

void MainPathTest::everyControlHasANameInEveryState()
{
    openWindow(false);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    press(u"Trust this folder"_s);
    QTRY_VERIFY(m_window->actions().optimise->isEnabled());
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    press(u"Reject the whole proposal"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    press(u"Don't decide now"_s);
    press(u"Edit the proposed files"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    openEditor(pathText(m_fixture->path() / "work" / "scale_shift.py"));
    m_window->actions().replace->trigger();
    m_window->actions().palette->trigger();
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    grab(u"13-palette"_s);
}

void MainPathTest::shortcutsAndIdsAreUnique()
{
    openWindow(true);
    QCOMPARE(m_window->actions().registry->conflicts(), QStringList());
    for (const QAction *action : m_window->actions().registry->actions())
        QVERIFY2(!action->text().isEmpty() && !action->objectName().isEmpty(), qPrintable(action->text()));
}

void MainPathTest::noNumberIsShownBeforeAnythingWasMeasured()
{
    WindowSetup setup;
    setup.environment.resources = fs::path(HEDDLE_SOURCE_DIR) / "resources";
    setup.systemPalette = Theme::light().palette();
    m_window = std::make_unique<MainWindow>(std::move(setup));
    m_window->show();
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    grab(u"01-welcome"_s);
    static const QRegularExpression measured(u"[0-9]+([.,][0-9]+)?\\s*(ns|µs|ms|s|×|%|GB/s)(\\s|$)"_s);
    for (const QString &text : accessibleTree::texts(m_window.get()))
        QVERIFY2(!text.contains(measured), qPrintable(text));
}

void MainPathTest::theThemeReachesEveryView()
{
    openWindow(true);
    openEditor(pathText(m_fixture->path() / "work" / "scale_shift.py"));
    const CodeEditor *editor = m_window->documents()->currentEditor()->editor();
    m_window->setAppearance(Appearance::Dark);
    QCOMPARE(editor->paperColor(), Theme::dark().base);
    QCOMPARE(QApplication::palette().color(QPalette::Window), Theme::dark().window);
    m_window->setAppearance(Appearance::Light);
    QCOMPARE(editor->paperColor(), Theme::light().base);
}

void MainPathTest::anExportIsShownBeforeAnythingIsWritten()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    press(u"Export"_s);
    const fs::path folder = m_fixture->path() / "work" / "scale_shift-export";
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(pathText(folder)));
    grab(u"14-export"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    QVERIFY(!fs::exists(folder));
    QVERIFY(events("exported").empty());
    press(u"Write these files"_s);
    QTRY_COMPARE(events("exported").size(), std::size_t(1));
    QVERIFY(*readTree(folder) == FakeWorkbench::proposedFiles());
    const QString heading = u"Export of scale_shift.py: 2 files are written to %1"_s.arg(pathText(folder));
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(heading));
    grab(u"14-exported"_s);
}

void MainPathTest::anyDecisionCanBeUndoneAndItsRevisionRestored()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    press(u"Accept the whole proposal"_s);
    QTRY_COMPARE(m_window->docks()->decisions()->count(), 1);
    QTRY_COMPARE(events("landed").size(), std::size_t(1));
    press(u"Go to Decisions"_s);
    grab(u"15-decisions"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    press(u"Undo the selected decision"_s);
    QTRY_COMPARE(events("undone").size(), std::size_t(1));
    QTRY_COMPARE(m_window->documents()->currentProposal()->proposal().state, u"open"_s);
    press(u"Restore the selected revision"_s);
    QTRY_COMPARE(events("landed").size(), std::size_t(2));
    const Json restored = events("landed").back().data;
    QCOMPARE(stringOr(restored, "revision"), stringOr(events("landed").front().data, "revision"));
    QTRY_COMPARE(m_window->docks()->decisions()->count(), 2);
}

void MainPathTest::aMixedReviewRecordsTheReasonOfEachHunk()
{
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    DiffView *view = m_window->documents()->currentProposal()->view();
    QTest::keyClick(view, Qt::Key_N);
    press(u"Reason 3 Unsafe"_s);
    QTRY_COMPARE(m_window->documents()->currentProposal()->diff()->markedCount(HunkMark::Rejected), 1);
    QTest::keyClick(view, Qt::Key_Y);
    QTRY_COMPARE(events("decided").size(), std::size_t(2));
    const Json rejected = events("decided").front().data;
    QCOMPARE(stringOr(rejected, "decision") + ' ' + stringOr(rejected, "reason"),
             std::string("reject unsafe"));
    QCOMPARE(memberOr(rejected, "hunks").size(), std::size_t(1));
    QCOMPARE(stringOr(events("decided").back().data, "decision"), std::string("accept_in_part"));
}

void MainPathTest::aFolderWithoutTasksSaysWhatATaskIs()
{
    QVERIFY(makeFolder(m_fixture->path() / "bare"));
    WindowSetup setup;
    setup.environment.resources = fs::path(HEDDLE_SOURCE_DIR) / "resources";
    setup.factory = [this](const Environment &, const fs::path &workspace, const std::string &) {
        return FakeWorkbench::create(workspace, m_switches);
    };
    setup.systemPalette = Theme::light().palette();
    m_window = std::make_unique<MainWindow>(std::move(setup));
    m_window->resize(1440, 900);
    m_window->show();
    m_window->openPath(pathText(m_fixture->path() / "bare"));
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"No task in this folder"_s));
    grab(u"16-bare"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
    QVERIFY(writeFileAtomically(m_fixture->path() / "bare" / "new.py", taskText));
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"Open the task"_s));
}

void MainPathTest::themeAndSizeOfCodeAreKeptInTheSettings()
{
    openWindow(true);
    const double before = codeFont().pointSizeF();
    press(u"Theme: Dark"_s);
    press(u"Zoom in"_s);
    QCOMPARE(codeFont().pointSizeF(), before + 1);
    QTRY_COMPARE(Settings::load({}).number("editor_font_size"), before + 1);
    QCOMPARE(Settings::load({}).text("theme"), std::string("dark"));
    m_window.reset();
    openWindow(true);
    QCOMPARE(QApplication::palette().color(QPalette::Window), Theme::dark().window);
    QCOMPARE(codeFont().pointSizeF(), before + 1);
    press(u"Reset zoom"_s);
    QTRY_COMPARE(Settings::load({}).value("editor_font_size").origin, SettingOrigin::Default);
    QCOMPARE(codeFont().pointSizeF(), before);
    press(u"Theme: Light"_s);
    QTRY_COMPARE(Settings::load({}).text("theme"), std::string("light"));
}

void MainPathTest::theStatusBarTellsHowTheMachineStands()
{
    openWindow(false);
    QVERIFY(accessibleTree::texts(m_window.get()).contains(u"Machine: not checked"_s));
    press(u"Trust this folder"_s);
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"Machine: missing torch"_s));
    press(u"Open the check-up"_s);
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"set HEDDLE_PYTHON"_s));
    grab(u"17-check-up"_s);
    QCOMPARE(accessibleTree::unnamed(m_window.get()).join(u'\n'), QString());
}

void MainPathTest::judgementsKeepToTheToleranceOfTheSettings()
{
    QVERIFY(makeFolder(configFolder()));
    QVERIFY(writeFileAtomically(Settings::userFile(), "{\"tolerance\": 0.25}\n"));
    openWindow(true);
    openFirstProposal();
    if (QTest::currentTestFailed())
        return;
    press(u"Edit the proposed files"_s);
    press(u"Judge the edited files as a new candidate"_s);
    QTRY_COMPARE(events("judged").size(), std::size_t(2));
    for (const Event &event : events("judged"))
        QCOMPARE(numberOr(memberOr(memberOr(event.data, "report"), "flags"), "tolerance", 0.0), 0.25);
}

void MainPathTest::sessionsRunWhereTheSettingSays_data()
{
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("chosen");
    QTest::addColumn<QString>("used");
    QTest::addColumn<QString>("complaint");
    QTest::newRow("neither") << QString() << QString() << u"cpu"_s << QString();
    QTest::newRow("the setting") << u"ssh://box/cpu"_s << QString() << u"ssh://box/cpu"_s << QString();
    QTest::newRow("the person's choice wins")
        << u"ssh://box/cpu"_s << u"ssh://other/cpu"_s << u"ssh://other/cpu"_s << QString();
    QTest::newRow("an unknown setting") << u"gpu"_s << QString() << u"cpu"_s << u"settings.json:1"_s;
}

void MainPathTest::sessionsRunWhereTheSettingSays()
{
    QFETCH(const QString, setting);
    QFETCH(const QString, chosen);
    QFETCH(const QString, used);
    QFETCH(const QString, complaint);
    if (!setting.isEmpty()) {
        QVERIFY(makeFolder(configFolder()));
        QVERIFY(writeFileAtomically(Settings::userFile(), toUtf8(u"{\"target\": \"%1\"}\n"_s.arg(setting))));
    }
    if (!chosen.isEmpty())
        m_chosenTarget = toUtf8(chosen);
    openWindow(true);
    const QString shown = accessibleTree::texts(m_window.get()).join(u'\n');
    QVERIFY2(shown.contains(u"Target: %1"_s.arg(used)), qPrintable(shown));
    // It stays on screen whatever the check-up finds.
    QTRY_VERIFY(accessibleTree::texts(m_window.get()).contains(u"Machine: missing torch"_s));
    if (!complaint.isEmpty())
        press(u"Details of this message"_s);
    const QString told = accessibleTree::texts(m_window.get()).join(u'\n');
    QVERIFY2(complaint.isEmpty() || (told.contains(complaint) && told.contains(u"it must be cpu"_s)),
             qPrintable(told));
    press(u"Baseline"_s);
    QTRY_COMPARE(events("session_ended").size(), std::size_t(1));
    const std::scoped_lock lock(m_targetsMutex);
    QCOMPARE(m_targets, std::set<std::string>{toUtf8(used)});
}

QTEST_MAIN(MainPathTest)
#include "MainPathTest.moc"
