// SPDX-License-Identifier: Apache-2.0
#include "tests/support/GuiFixture.h"
#include "widgets/common/ActionRegistry.h"
#include "widgets/common/Banner.h"
#include "widgets/common/CommandPalette.h"
#include "widgets/common/DataTable.h"
#include "widgets/common/ErrorText.h"
#include "widgets/common/Format.h"
#include "widgets/common/JobIndicator.h"
#include "widgets/common/Report.h"
#include "widgets/common/Status.h"
#include "widgets/common/Theme.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QLineEdit>
#include <QRandomGenerator>
#include <QSignalSpy>

using namespace Qt::StringLiterals;
using namespace heddle;

class CommonTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void timesAdaptTheirUnit_data();
    void timesAdaptTheirUnit();
    void speedupsCarryTheirInterval_data();
    void speedupsCarryTheirInterval();
    void aSpeedupIsClaimedOnlyOutsideOne();
    void sharesBytesAndRates_data();
    void sharesBytesAndRates();
    void aReportWithoutFiguresGivesNone();
    void deployedSpeedupsCountOnceConfirmed();
    void timesOfAHeadingComeFromOneRun();
    void everyCodeHasASentenceAndANextStep();
    void theCoresOwnNextStepWins();
    void bothThemesHaveReadableContrast();
    void aThemeIsKnownByItsPalette();
    void rowsKeepTheirSelectionThroughUpdates();
    void rowsModelStaysConsistentUnderRandomUpdates();
    void repeatedShortcutsAreReported();
    void thePaletteRunsTheActionThatWasSearched();
    void theBannerUnfoldsItsDetails();
    void theJobIndicatorCancelsTheOldestJob();
    void everyVerdictClassHasWords();
};

void CommonTest::init()
{
    testing::GuiFixture::failOnWarnings();
    QLocale::setDefault(QLocale::c());
}

void CommonTest::timesAdaptTheirUnit_data()
{
    QTest::addColumn<double>("seconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("ns") << 812e-9 << u"812 ns"_s;
    QTest::newRow("below a step") << 999.4e-9 << u"999 ns"_s;
    QTest::newRow("rounds into the next unit") << 999.6e-9 << u"1.00 µs"_s;
    QTest::newRow("µs") << 24.31e-6 << u"24.3 µs"_s;
    QTest::newRow("ms") << 3.904e-3 << u"3.90 ms"_s;
    QTest::newRow("s") << 1.25 << u"1.25 s"_s;
    QTest::newRow("minutes stay seconds") << 125.0 << u"125 s"_s;
    QTest::newRow("nothing") << 0.0 << u"0 s"_s;
    QTest::newRow("not a number") << std::numeric_limits<double>::quiet_NaN() << u"not measured"_s;
}

void CommonTest::timesAdaptTheirUnit()
{
    QFETCH(const double, seconds);
    QFETCH(const QString, text);
    QCOMPARE(Format::seconds(seconds).replace(u'\u00a0', u' '), text);
}

void CommonTest::speedupsCarryTheirInterval_data()
{
    QTest::addColumn<double>("value");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<QString>("text");
    QTest::newRow("plain") << 1.84 << 1.81 << 1.87 << u"1.84× ± 0.03 vs compile"_s;
    QTest::newRow("the wider side counts") << 1.84 << 1.74 << 1.86 << u"1.84× ± 0.10 vs compile"_s;
    QTest::newRow("narrow needs digits") << 1.2345 << 1.2335 << 1.2355 << u"1.234× ± 0.001 vs compile"_s;
}

void CommonTest::speedupsCarryTheirInterval()
{
    QFETCH(const double, value);
    QFETCH(const double, low);
    QFETCH(const double, high);
    QFETCH(const QString, text);
    const QString shown = Format::speedup({value, low, high}, u"compile"_s).replace(u'\u00a0', u' ');
    QCOMPARE(shown, text);
}

void CommonTest::aSpeedupIsClaimedOnlyOutsideOne()
{
    QVERIFY((Ratio{1.2, 1.1, 1.3}).isClaim());
    QVERIFY((Ratio{0.8, 0.7, 0.9}).isClaim());
    QVERIFY(!(Ratio{1.02, 0.99, 1.05}).isClaim());
    const Json report{
        {"speedup",
         {{"runner", {{"compile", {{"value", 1.02}, {"ci", {0.99, 1.05}}}}}}, {"deployed", nullptr}}}};
    QVERIFY(Report::speedupText(report, "compile").contains(u"no clear difference"_s));
}

void CommonTest::sharesBytesAndRates_data()
{
    QTest::addColumn<QString>("shown");
    QTest::addColumn<QString>("text");
    QTest::newRow("percent") << Format::percent(0.815) << u"82 %"_s;
    QTest::newRow("small percent") << Format::percent(0.0123) << u"1.2 %"_s;
    QTest::newRow("bytes") << Format::bytes(64.0 * 1024 * 1024) << u"64.0 MiB"_s;
    QTest::newRow("rate") << Format::perSecond(12.34e9, u"B"_s) << u"12.3 GB/s"_s;
    QTest::newRow("duration") << Format::duration(125.4) << u"2:05"_s;
    QTest::newRow("long duration") << Format::duration(3725) << u"1:02:05"_s;
}

void CommonTest::sharesBytesAndRates()
{
    QFETCH(QString, shown);
    QFETCH(const QString, text);
    QCOMPARE(shown.replace(u'\u00a0', u' '), text);
}

void CommonTest::aReportWithoutFiguresGivesNone()
{
    QVERIFY(Report::timings(Json()).empty());
    QVERIFY(Report::speedupTexts(Json()).isEmpty());
    const Json partial{{"baselines", {{"eager", {{"runs", 4}}}}}, {"candidate", nullptr}};
    QVERIFY(Report::timings(partial).empty());
    QVERIFY(!Ratio::fromJson({{"value", 1.5}, {"ci", {nullptr, nullptr}}}).has_value());
}

void CommonTest::deployedSpeedupsCountOnceConfirmed()
{
    Json report{{"speedup",
                 {{"runner", {{"compile", {{"value", 2.0}, {"ci", {1.9, 2.1}}}}}}, {"deployed", nullptr}}}};
    QVERIFY(Report::speedupText(report, "compile").startsWith(u"2.00×"_s));
    report["speedup"]["deployed"] = {{"compile", {{"value", 1.5}, {"ci", {1.4, 1.6}}}}};
    QVERIFY(Report::speedupText(report, "compile").startsWith(u"1.50×"_s));
}

void CommonTest::timesOfAHeadingComeFromOneRun()
{
    const QString summary = u"Fuses mul and softmax."_s;
    const auto heading = [&summary](const Json &report) {
        return Report::proposalHeading(summary, report).replace(u'\u00a0', u' ');
    };
    QCOMPARE(heading(Json()), u"Fuses mul and softmax."_s);
    Json report{{"baselines",
                 {{"eager", {{"median_ms", 6.31}}}, {"strongest", {{"name", "eager"}, {"median_ms", 6.31}}}}},
                {"candidate", {{"median_ms", 1.17}}},
                {"speedup", {{"runner", {{"eager", {{"value", 5.4}}}}}, {"deployed", nullptr}}}};
    // The baselines of a quick report are those of the baseline's own event.
    QCOMPARE(heading(report), u"Fuses mul and softmax. 1.17 ms, quick."_s);
    report["candidate"]["median_ms"] = 1.35;
    report["speedup"]["deployed"] = {{"eager", {{"value", 4.7}}}};
    QCOMPARE(heading(report), u"Fuses mul and softmax. 1.35 ms against 6.31 ms of eager, confirmed."_s);
    report["candidate"] = {{"median_ms", nullptr}};
    QCOMPARE(heading(report), u"Fuses mul and softmax."_s);
}

void CommonTest::everyCodeHasASentenceAndANextStep()
{
    for (int code = 0; code <= static_cast<int>(Code::Internal); ++code) {
        const ErrorMessage message = ErrorText::message(Error(static_cast<Code>(code), "it happened"));
        QVERIFY2(message.title.endsWith(u": it happened"_s), qPrintable(message.title));
        QVERIFY2(!message.next.isEmpty(), qPrintable(QString::number(code)));
    }
}

void CommonTest::theCoresOwnNextStepWins()
{
    const ErrorMessage message =
        ErrorText::message(Error(Code::Environment, "no torch", "python3", "set HEDDLE_PYTHON"));
    QCOMPARE(message.next, u"set HEDDLE_PYTHON"_s);
    QVERIFY(message.title.contains(u"python3"_s));
    // What a child said last names its own remedy, which is nearer than that of whoever started it.
    const ErrorMessage child = ErrorText::message(Error(
        Code::Environment, "it did not start: no Python\n  next: install Python\n", "worker", "see the log"));
    QCOMPARE(child.next, u"install Python"_s);
    QVERIFY2(child.title.endsWith(u"it did not start: no Python (worker)"_s), qPrintable(child.title));
    const ErrorMessage traceback = ErrorText::message(
        Error(Code::TaskFailed, "it failed:\nTraceback:\n  File \"x.py\", line 1\nNameError: y\n"));
    QVERIFY2(traceback.title.endsWith(u"it failed: NameError: y"_s), qPrintable(traceback.title));
    QVERIFY(traceback.details.contains(u"line 1"_s));
}

void CommonTest::bothThemesHaveReadableContrast()
{
    for (const Theme *theme : {&Theme::light(), &Theme::dark()}) {
        const std::vector<std::pair<QColor, QColor>> pairs{{theme->text, theme->window},
                                                           {theme->text, theme->panel},
                                                           {theme->text, theme->base},
                                                           {theme->mutedText, theme->panel},
                                                           {theme->mutedText, theme->window},
                                                           {theme->accent, theme->panel},
                                                           {theme->onAccent, theme->accent},
                                                           {theme->text, theme->selection},
                                                           {theme->text, theme->diffAdded},
                                                           {theme->text, theme->diffRemoved},
                                                           {theme->text, theme->diffAddedStrong},
                                                           {theme->text, theme->diffRemovedStrong},
                                                           {theme->success, theme->base},
                                                           {theme->danger, theme->base},
                                                           {theme->warning, theme->base},
                                                           {theme->keyword, theme->base},
                                                           {theme->string, theme->base},
                                                           {theme->comment, theme->base},
                                                           {theme->number, theme->base},
                                                           {theme->function, theme->base},
                                                           {theme->preprocessor, theme->base},
                                                           {theme->lineNumber, theme->base},
                                                           {theme->text, theme->warningSoft},
                                                           {theme->text, theme->dangerSoft},
                                                           {theme->text, theme->successSoft},
                                                           {theme->mutedText, theme->diffHunk},
                                                           {theme->danger, theme->dangerSoft}};
        for (const auto &[ink, paper] : pairs) {
            QVERIFY2(
                contrastRatio(ink, paper) >= 4.5,
                qPrintable(u"%1 on %2: %3"_s.arg(ink.name(), paper.name()).arg(contrastRatio(ink, paper))));
        }
    }
}

void CommonTest::aThemeIsKnownByItsPalette()
{
    QVERIFY(Theme::of(Theme::dark().palette()).isDark);
    QVERIFY(!Theme::of(Theme::light().palette()).isDark);
    QVERIFY(!Theme::light().styleSheet(16).contains(u'@'));
}

void CommonTest::rowsKeepTheirSelectionThroughUpdates()
{
    DataTable table(u"t"_s, {u"a"_s});
    table.rows()->setRows({{u"1"_s, {{.text = u"x"_s}}}, {u"2"_s, {{.text = u"y"_s}}}});
    table.selectKey(u"2"_s);
    table.rows()->setRows({{u"0"_s, {{.text = u"w"_s}}}, {u"2"_s, {{.text = u"z"_s}}}});
    QCOMPARE(table.currentKey(), u"2"_s);
    QCOMPARE(table.rows()->rowCount(table.rows()->index(0, 0)), 0);
    QVERIFY(!table.rows()->index(2, 0).isValid());
}

void CommonTest::rowsModelStaysConsistentUnderRandomUpdates()
{
    RowsModel model({u"a"_s, u"b"_s}, nullptr);
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    QRandomGenerator random(42);
    for (int round = 0; round < 200; ++round) {
        QStringList keys;
        for (int key = 0; key < 8; ++key) {
            if (random.bounded(2) == 1)
                keys.insert(random.bounded(static_cast<int>(keys.size()) + 1), QString::number(key));
        }
        std::vector<Row> rows;
        for (const QString &key : std::as_const(keys))
            rows.push_back({key, {{.text = QString::number(random.bounded(3))}, {.text = key}}});
        model.setRows(rows);
        QVERIFY(model.rows() == rows);
    }
}

void CommonTest::repeatedShortcutsAreReported()
{
    QObject owner;
    ActionRegistry registry(&owner);
    registry.add(u"a"_s, u"A"_s, QKeySequence(u"Ctrl+R"_s));
    QVERIFY(registry.conflicts().isEmpty());
    registry.add(u"b"_s, u"B"_s, QKeySequence(u"Ctrl+R"_s));
    QCOMPARE(registry.conflicts().size(), qsizetype(1));
}

void CommonTest::thePaletteRunsTheActionThatWasSearched()
{
    QWidget window;
    window.resize(600, 400);
    ActionRegistry registry(&window);
    QAction *judge = registry.add(u"judge"_s, u"&Judge"_s);
    registry.add(u"lint"_s, u"&Lint"_s)->setEnabled(false);
    registry.add(u"export"_s, u"&Export"_s);
    CommandPalette palette(&registry, &window);
    const QSignalSpy spy(judge, &QAction::triggered);
    window.show();
    palette.popUp();
    QCOMPARE(palette.visibleRows(), 2);
    auto *search = palette.findChild<QLineEdit *>();
    QTest::keyClicks(search, u"jud"_s);
    QCOMPARE(palette.visibleRows(), 1);
    QTest::keyClick(search, Qt::Key_Return);
    QCOMPARE(spy.count(), 1);
    QVERIFY(!palette.isVisible());
}

void CommonTest::theBannerUnfoldsItsDetails()
{
    Banner banner;
    QVERIFY(!banner.isVisibleTo(nullptr));
    banner.showError(Error(Code::Io, "disk full", "/x"));
    QVERIFY(banner.isVisible());
    QVERIFY(banner.text().contains(u"disk full"_s));
    QCOMPARE(banner.accessibleName(), banner.text());
}

void CommonTest::theJobIndicatorCancelsTheOldestJob()
{
    JobIndicator indicator;
    QSignalSpy spy(&indicator, &JobIndicator::cancelRequested);
    QCOMPARE(indicator.text(), u"Ready"_s);
    indicator.jobStarted(3, u"Baseline"_s);
    indicator.jobStarted(5, u"Judge"_s);
    indicator.jobProgressed(3, {"measuring", 0.5, {}});
    QVERIFY(indicator.text().contains(u"Baseline: measuring"_s));
    for (QWidget *child : indicator.findChildren<QWidget *>()) {
        if (child->accessibleName() == u"Cancel the running job")
            QMetaObject::invokeMethod(child, "click");
    }
    QCOMPARE(spy.count(), 1);
    QCOMPARE(spy.front().front().value<std::uint64_t>(), std::uint64_t(3));
    indicator.jobEnded(3);
    indicator.jobEnded(5);
    QCOMPARE(indicator.text(), u"Ready"_s);
}

void CommonTest::everyVerdictClassHasWords()
{
    for (const char *name : {"not_judged", "did_not_build", "reward_hack", "crashed", "timed_out", "wrong",
                             "suspicious", "precision_changed", "structure_assuming", "fallback", "clean"}) {
        QVERIFY2(StatusMark::verdictName(name) != QString::fromLatin1(name), name);
        QVERIFY2(!StatusMark::verdictSentence(name).isEmpty(), name);
    }
    QCOMPARE(StatusMark::ofVerdict("clean"), Status::Passed);
    QCOMPARE(StatusMark::ofVerdict("wrong"), Status::Failed);
    QCOMPARE(StatusMark::ofVerdict("not_judged"), Status::NotRun);
}

QTEST_MAIN(CommonTest)
#include "CommonTest.moc"
