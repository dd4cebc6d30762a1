// SPDX-License-Identifier: Apache-2.0
#include "core/base/Digest.h"
#include "tests/support/GuiFixture.h"
#include "widgets/common/Theme.h"
#include "widgets/editor/BufferJournal.h"
#include "widgets/editor/CodeEditor.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/editor/FindBar.h"

#include <QApplication>
#include <QPushButton>

using namespace Qt::StringLiterals;
using namespace heddle;

class EditorTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void replacingTheTextIsOneUndoStep();
    void aFreshlyLoadedTextIsNotModified();
    void searchGoesAroundTheEnd();
    void replaceAllCountsAndIsOneUndoStep();
    void diagnosticsStandAtTheirLines();
    void everyStyleFollowsThePalette();
    void byteOrderMarkAndLineEndsAreKept();
    void bytesThatAreNoTextOpenReadOnly();
    void aChangeOutsideNeverDropsUnsavedText();
    void anUnmodifiedFileFollowsTheDisk();
    void theJournalGivesBackWhatWasWritten();
    void aDamagedJournalEntryIsLeftOut();
};

void EditorTest::init() { testing::GuiFixture::failOnWarnings(); }

void EditorTest::replacingTheTextIsOneUndoStep()
{
    CodeEditor editor(Language::Cpp);
    editor.loadText(u"int a;\nint b;\n"_s);
    editor.replaceText(u"int c;\n"_s);
    QVERIFY(editor.isModified());
    editor.undo();
    QCOMPARE(editor.text(), u"int a;\nint b;\n"_s);
    QVERIFY(!editor.isModified());
}

void EditorTest::aFreshlyLoadedTextIsNotModified()
{
    CodeEditor editor(Language::Python);
    editor.loadText(u"x = 1\n"_s);
    QVERIFY(!editor.isModified());
    editor.undo();
    QCOMPARE(editor.text(), u"x = 1\n"_s);
}

void EditorTest::searchGoesAroundTheEnd()
{
    CodeEditor editor(Language::Plain);
    editor.loadText(u"one two\none\n"_s);
    editor.goTo(2, 4);
    QVERIFY(editor.find(u"two"_s, true, true, false));
    QCOMPARE(editor.currentLine(), 1);
    QVERIFY(!editor.find(u"three"_s, true, true, false));
}

void EditorTest::replaceAllCountsAndIsOneUndoStep()
{
    CodeEditor editor(Language::Plain);
    editor.loadText(u"aa ab aa\n"_s);
    QCOMPARE(editor.replaceAll(u"aa"_s, u"aaa"_s, true, false), 2);
    QCOMPARE(editor.text(), u"aaa ab aaa\n"_s);
    editor.undo();
    QCOMPARE(editor.text(), u"aa ab aa\n"_s);
}

void EditorTest::diagnosticsStandAtTheirLines()
{
    CodeEditor editor(Language::Cpp);
    editor.loadText(u"a\nb\nc\n"_s);
    const Json array{{{"line", 2}, {"severity", "error"}, {"message", "bad b"}},
                     {{"line", 2}, {"severity", "warning"}, {"message", "odd b"}},
                     {{"line", 99}, {"message", "nowhere"}},
                     {{"line", 1}, {"severity", "note"}}};
    editor.setDiagnostics(diagnosticsFromJson(array));
    QCOMPARE(editor.annotationAt(2), u"bad b\nodd b"_s);
    QCOMPARE(editor.annotationAt(1), QString());
    editor.setDiagnostics({});
    QCOMPARE(editor.annotationAt(2), QString());
}

void EditorTest::everyStyleFollowsThePalette()
{
    CodeEditor editor(Language::Python);
    editor.loadText(u"def f(): return 1\n"_s);
    for (const Theme *theme : {&Theme::dark(), &Theme::light()}) {
        editor.setPalette(theme->palette());
        QCOMPARE(editor.paperColor(), theme->base);
    }
}

void EditorTest::byteOrderMarkAndLineEndsAreKept()
{
    const std::string bytes = "\xEF\xBB\xBFone\r\ntwo\r\n";
    const EditorDocument document(u"/w/a.cpp"_s, bytes);
    QCOMPARE(document.bytes(), bytes);
    QVERIFY(!document.isModified());
    QCOMPARE(document.diskDigest(), sha256Hex(bytes));
}

void EditorTest::bytesThatAreNoTextOpenReadOnly()
{
    const EditorDocument document(u"/w/a.cpp"_s, std::string("a\xFF\xFE b"));
    QVERIFY(document.editor()->isReadOnly());
}

void EditorTest::aChangeOutsideNeverDropsUnsavedText()
{
    EditorDocument document(u"/w/a.py"_s, "x = 1\n");
    document.editor()->replaceText(u"x = 2\n"_s);
    document.diskChanged("x = 3\n");
    QCOMPARE(document.bytes(), std::string("x = 2\n"));
    QVERIFY(document.isModified());
    for (QPushButton *button : document.findChildren<QPushButton *>()) {
        if (button->accessibleName() == u"Drop my text and reload the file")
            button->click();
    }
    QCOMPARE(document.bytes(), std::string("x = 3\n"));
    QVERIFY(!document.isModified());
}

void EditorTest::anUnmodifiedFileFollowsTheDisk()
{
    EditorDocument document(u"/w/a.py"_s, "x = 1\n");
    document.diskChanged("x = 3\n");
    QCOMPARE(document.bytes(), std::string("x = 3\n"));
}

void EditorTest::theJournalGivesBackWhatWasWritten()
{
    const auto folder = TempFolder::create("heddle-journal-");
    QVERIFY(folder.has_value());
    BufferJournal journal(folder->path() / "j");
    QVERIFY(journal.entries().empty());
    QVERIFY(journal.write({"/w/a.py", "first", "d1"}));
    QVERIFY(journal.write({"/w/a.py", "second \xC3\xA9", "d1"}));
    QVERIFY(journal.write({"/w/b.py", "other", "d2"}));
    QCOMPARE(journal.entries().size(), std::size_t(2));
    QCOMPARE(journal.entries().front().text, std::string("second \xC3\xA9"));
    QVERIFY(journal.remove("/w/a.py"));
    QVERIFY(journal.remove("/w/a.py"));
    QCOMPARE(journal.entries().size(), std::size_t(1));
}

void EditorTest::aDamagedJournalEntryIsLeftOut()
{
    const auto folder = TempFolder::create("heddle-journal-");
    QVERIFY(folder.has_value());
    BufferJournal journal(folder->path());
    QVERIFY(journal.write({"/w/a.py", "text", "d"}));
    const auto tree = readTree(folder->path());
    QVERIFY(tree.has_value() && tree->size() == 1);
    std::string half = tree->begin()->second;
    half.resize(half.size() / 2);
    QVERIFY(writeFileAtomically(folder->path() / tree->begin()->first, half));
    QVERIFY(journal.entries().empty());
}

QTEST_MAIN(EditorTest)
#include "EditorTest.moc"
