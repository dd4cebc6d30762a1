// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/DocumentArea.h"

#include "core/base/File.h"
#include "widgets/common/Icons.h"
#include "widgets/common/Text.h"
#include "widgets/editor/BufferJournal.h"
#include "widgets/editor/EditorDocument.h"
#include "widgets/editor/EditorStyle.h"
#include "widgets/evidence/EvidenceView.h"
#include "widgets/review/DiffView.h"
#include "widgets/review/ExportPreview.h"
#include "widgets/review/ProposalDocument.h"
#include "widgets/welcome/CheckUpView.h"

#include <QCoreApplication>
#include <QScrollArea>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr std::uint64_t largestDocument = 8u << 20;
constexpr int journalInterval = 1000;
const QString checkUpKey = u"check-up"_s;
const QString exportKey = u"export "_s; ///< followed by the task

} // namespace

DocumentArea::DocumentArea(JobBridge &jobs, QWidget *parent) : QTabWidget(parent), m_jobs(jobs)
{
    setDocumentMode(true);
    setMovable(true);
    setAccessibleName(tr("Documents"));
    tabBar()->setAccessibleName(tr("Open documents"));
    // "B…e" tells nobody what it is: names stay whole, and the bar scrolls.
    tabBar()->setElideMode(Qt::ElideNone);
    m_journalTimer.setInterval(journalInterval);
    connect(&m_journalTimer, &QTimer::timeout, this, &DocumentArea::journal);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, &DocumentArea::readAgain);
}

void DocumentArea::tabInserted(int index)
{
    QTabWidget::tabInserted(index);
    // A button of our own: it follows the theme and says what it closes.
    auto *close = new QToolButton(tabBar());
    close->setIcon(themedIcon(u"close"_s));
    close->setAutoRaise(true);
    close->setIconSize(QSize(1, 1) * (fontMetrics().height() * 3 / 4));
    close->setFocusPolicy(Qt::NoFocus);
    close->setAccessibleName(tr("Close %1").arg(tabText(index)));
    close->setToolTip(tr("Close"));
    const QPointer<QWidget> document(widget(index));
    connect(close, &QToolButton::clicked, this, [this, document] {
        if (document != nullptr)
            closeTab(indexOf(document));
    });
    tabBar()->setTabButton(index, QTabBar::RightSide, close);
}

void DocumentArea::setJournal(const std::filesystem::path &folder)
{
    m_journal = folder;
    m_journalTimer.start();
    recover();
}

EditorDocument *DocumentArea::findEditor(const QString &path) const
{
    for (int tab = 0; tab < count(); ++tab) {
        auto *editor = qobject_cast<EditorDocument *>(widget(tab));
        if (editor != nullptr && editor->path() == path)
            return editor;
    }
    return nullptr;
}

void DocumentArea::openFile(const QString &path, int line, int column)
{
    if (EditorDocument *open = findEditor(path); open != nullptr) {
        setCurrentWidget(open);
        if (line > 0)
            open->editor()->goTo(line, std::max(1, column));
        open->setFocus();
        return;
    }
    if (line > 0)
        m_places.insert(path, {line, column});
    if (m_opening.contains(path))
        return;
    m_opening.insert(path);
    using Bytes = Result<std::string>;
    m_jobs.run<Bytes>(
        Lane::io(), JobKind::Quiet, {}, this,
        [path](const CancelToken &, const ProgressSink &) { return readFile(toPath(path), largestDocument); },
        [this, path](Bytes bytes) {
            m_opening.remove(path);
            if (!bytes) {
                emit failed(bytes.error());
                return;
            }
            EditorDocument *editor = findEditor(path);
            if (editor == nullptr)
                editor = addEditor(path, *bytes);
            setCurrentWidget(editor);
            const auto place = m_places.take(path);
            if (place.first > 0)
                editor->editor()->goTo(place.first, std::max(1, place.second));
            editor->setFocus();
        });
}

EditorDocument *DocumentArea::addEditor(const QString &path, const std::string &bytes)
{
    auto *editor = new EditorDocument(path, bytes, this);
    addTab(editor, editor->name());
    setTabToolTip(indexOf(editor), path);
    m_watcher.addPath(path);
    connect(editor, &EditorDocument::titleChanged, this, [this, editor] { showTitle(editor); });
    connect(editor->editor(), &CodeEditor::cursorMoved, this, &DocumentArea::currentPlaceChanged);
    setDiagnostics(m_diagnosticFolder, m_diagnostics);
    return editor;
}

void DocumentArea::showTitle(EditorDocument *editor)
{
    const int tab = indexOf(editor);
    //: the dot marks a file with unsaved text
    setTabText(tab, editor->isModified() ? tr("● %1").arg(editor->name()) : editor->name());
}

ProposalDocument *DocumentArea::findProposal(const QString &id) const
{
    for (int tab = 0; tab < count(); ++tab) {
        auto *document = qobject_cast<ProposalDocument *>(widget(tab));
        if (document != nullptr && document->objectName() == id)
            return document;
    }
    return nullptr;
}

ProposalDocument *DocumentArea::openProposal(const QString &id)
{
    ProposalDocument *document = findProposal(id);
    if (document == nullptr) {
        document = new ProposalDocument(this);
        document->setObjectName(id);
        addTab(document, themedIcon(u"diff"_s), tr("Proposal"));
        emit proposalOpened(document);
    }
    setCurrentWidget(document);
    document->setFocus();
    return document;
}

EvidenceView *DocumentArea::openReport(const QString &key, const QString &title, const QString &heading,
                                       const Json &report)
{
    EvidenceView *view = nullptr;
    for (int tab = 0; tab < count(); ++tab) {
        auto *found = qobject_cast<EvidenceView *>(widget(tab));
        if (found != nullptr && found->objectName() == key)
            view = found;
    }
    if (view == nullptr) {
        view = new EvidenceView(this);
        view->setObjectName(key);
        addTab(view, themedIcon(u"report"_s), title);
    }
    view->setReport(heading, report);
    setCurrentWidget(view);
    return view;
}

QWidget *DocumentArea::findTab(const QString &key) const
{
    for (int tab = 0; tab < count(); ++tab) {
        if (widget(tab)->objectName() == key)
            return widget(tab);
    }
    return nullptr;
}

ExportPreview *DocumentArea::findExport(const QString &taskPath) const
{
    return qobject_cast<ExportPreview *>(findTab(exportKey + taskPath));
}

ExportPreview *DocumentArea::openExport(const QString &taskPath)
{
    ExportPreview *preview = findExport(taskPath);
    if (preview == nullptr) {
        preview = new ExportPreview(this);
        preview->setObjectName(exportKey + taskPath);
        addTab(preview, themedIcon(u"export"_s), tr("Export: %1").arg(taskPath.section(u'/', -1)));
        emit exportOpened(preview);
    }
    setCurrentWidget(preview);
    return preview;
}

CheckUpView *DocumentArea::findCheckUp() const
{
    const QWidget *page = findTab(checkUpKey);
    return page == nullptr ? nullptr : page->findChild<CheckUpView *>();
}

CheckUpView *DocumentArea::openCheckUp()
{
    if (QWidget *page = findTab(checkUpKey); page != nullptr) {
        setCurrentWidget(page);
        return page->findChild<CheckUpView *>();
    }
    auto *scroll = new QScrollArea(this);
    scroll->setObjectName(checkUpKey);
    scroll->setAccessibleName(tr("Check-up"));
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    auto *page = new QWidget(scroll);
    page->setProperty("page", true);
    auto *view = new CheckUpView(page);
    auto *column = new QVBoxLayout(page);
    const int space = fontMetrics().height() * 3 / 2;
    column->setContentsMargins(space, space, space, space);
    column->addWidget(view);
    column->addStretch(1);
    scroll->setWidget(page);
    addTab(scroll, tr("Check-up"));
    emit checkUpOpened(view);
    setCurrentWidget(scroll);
    return view;
}

EditorDocument *DocumentArea::currentEditor() const
{
    return qobject_cast<EditorDocument *>(currentWidget());
}

ProposalDocument *DocumentArea::currentProposal() const
{
    return qobject_cast<ProposalDocument *>(currentWidget());
}

EvidenceView *DocumentArea::currentReport() const { return qobject_cast<EvidenceView *>(currentWidget()); }

OpenTexts DocumentArea::openTexts() const
{
    OpenTexts texts;
    for (int tab = 0; tab < count(); ++tab) {
        if (const auto *editor = qobject_cast<EditorDocument *>(widget(tab)); editor != nullptr)
            texts.insert_or_assign(toUtf8(editor->path()), editor->bytes());
    }
    return texts;
}

OpenTexts DocumentArea::unsavedTexts() const
{
    OpenTexts texts;
    for (int tab = 0; tab < count(); ++tab) {
        const auto *editor = qobject_cast<EditorDocument *>(widget(tab));
        if (editor != nullptr && editor->isModified())
            texts.insert_or_assign(toUtf8(editor->path()), editor->bytes());
    }
    return texts;
}

void DocumentArea::saveCurrent()
{
    if (EditorDocument *editor = currentEditor(); editor != nullptr)
        save(editor, false);
}

void DocumentArea::saveAll()
{
    for (int tab = 0; tab < count(); ++tab) {
        auto *editor = qobject_cast<EditorDocument *>(widget(tab));
        if (editor != nullptr && editor->isModified())
            save(editor, false);
    }
}

void DocumentArea::save(EditorDocument *editor, bool closesAfter)
{
    const QString path = editor->path();
    const std::string bytes = editor->bytes();
    const QPointer<EditorDocument> guard(editor);
    m_jobs.run<Result<void>>(
        Lane::io(), JobKind::Quiet, {}, this,
        [path, bytes](const CancelToken &, const ProgressSink &) {
            return writeFileAtomically(toPath(path), bytes);
        },
        [this, guard, bytes, path, closesAfter](Result<void> result) {
            if (!result) {
                emit failed(result.error());
                return;
            }
            // An atomic write replaces the file, so it is watched anew.
            m_watcher.addPath(path);
            if (guard == nullptr)
                return;
            guard->markSaved(bytes);
            if (closesAfter && !guard->isModified())
                removeTabOf(guard);
        });
}

void DocumentArea::closeTab(int index)
{
    QWidget *document = widget(index);
    auto *editor = qobject_cast<EditorDocument *>(document);
    if (editor != nullptr && editor->isModified()) {
        // Closing keeps the work: it is saved first, and stays open if that fails.
        save(editor, true);
        return;
    }
    removeTabOf(document);
}

void DocumentArea::removeTabOf(QWidget *document)
{
    if (const auto *editor = qobject_cast<EditorDocument *>(document); editor != nullptr)
        m_watcher.removePath(editor->path());
    removeTab(indexOf(document));
    document->deleteLater();
}

void DocumentArea::setCodeSize(int points)
{
    setCodeFontSize(points);
    for (QWidget *view : findChildren<QWidget *>()) {
        if (qobject_cast<CodeEditor *>(view) == nullptr && qobject_cast<DiffView *>(view) == nullptr)
            continue;
        QEvent changed(QEvent::FontChange);
        QCoreApplication::sendEvent(view, &changed);
    }
}

void DocumentArea::setDiagnostics(const QString &folder, const std::vector<Diagnostic> &diagnostics)
{
    m_diagnosticFolder = folder;
    m_diagnostics = diagnostics;
    for (int tab = 0; tab < count(); ++tab) {
        auto *editor = qobject_cast<EditorDocument *>(widget(tab));
        if (editor == nullptr)
            continue;
        std::vector<Diagnostic> own;
        for (const Diagnostic &diagnostic : diagnostics) {
            if (!folder.isEmpty() && editor->path() == folder + u'/' + diagnostic.file)
                own.push_back(diagnostic);
        }
        editor->editor()->setDiagnostics(own);
    }
}

void DocumentArea::landFiles(const QString &folder, const FileTree &files)
{
    for (const auto &[name, bytes] : files) {
        EditorDocument *editor = findEditor(folder + u'/' + toText(name));
        if (editor == nullptr)
            continue;
        editor->land(bytes);
        m_watcher.addPath(editor->path());
    }
}

void DocumentArea::readAgain(const QString &path)
{
    using Bytes = Result<std::string>;
    m_jobs.run<Bytes>(
        Lane::io(), JobKind::Quiet, {}, this,
        [path](const CancelToken &, const ProgressSink &) { return readFile(toPath(path), largestDocument); },
        [this, path](Bytes bytes) {
            EditorDocument *editor = findEditor(path);
            if (editor == nullptr)
                return;
            if (bytes) {
                m_watcher.addPath(path);
                editor->diskChanged(*bytes);
            } else if (bytes.error().code() == Code::NotFound) {
                editor->diskRemoved();
            } else {
                emit failed(bytes.error());
            }
        });
}

void DocumentArea::journal()
{
    std::vector<JournalEntry> write;
    QStringList remove;
    for (int tab = 0; tab < count(); ++tab) {
        const auto *editor = qobject_cast<EditorDocument *>(widget(tab));
        if (editor == nullptr)
            continue;
        if (!editor->isModified()) {
            if (m_journalled.remove(editor->path()) > 0)
                remove << editor->path();
            continue;
        }
        const QString text = editor->editor()->text();
        if (m_journalled.value(editor->path()) == text)
            continue;
        m_journalled.insert(editor->path(), text);
        write.push_back({toUtf8(editor->path()), toUtf8(text), editor->diskDigest()});
    }
    for (auto entry = m_journalled.begin(); entry != m_journalled.end();) {
        if (findEditor(entry.key()) != nullptr) {
            ++entry;
            continue;
        }
        remove << entry.key();
        entry = m_journalled.erase(entry);
    }
    if (write.empty() && remove.isEmpty())
        return;
    m_jobs.run<Result<void>>(
        Lane::io(), JobKind::Quiet, {}, this,
        [folder = m_journal, write, remove](const CancelToken &, const ProgressSink &) -> Result<void> {
            BufferJournal journal(folder);
            for (const JournalEntry &entry : write)
                HEDDLE_CHECK_OK(journal.write(entry));
            for (const QString &path : remove)
                HEDDLE_CHECK_OK(journal.remove(toUtf8(path)));
            return {};
        },
        [this](Result<void> result) {
            if (!result)
                emit failed(result.error());
        });
}

void DocumentArea::recover()
{
    struct Found {
        JournalEntry entry;
        std::string disk;
    };
    using List = std::vector<Found>;
    m_jobs.run<List>(
        Lane::io(), JobKind::Quiet, {}, this,
        [folder = m_journal](const CancelToken &, const ProgressSink &) {
            List found;
            for (JournalEntry &entry : BufferJournal(folder).entries()) {
                Result<std::string> disk = readFile(entry.file, largestDocument);
                found.push_back({std::move(entry), disk ? std::move(*disk) : std::string()});
            }
            return found;
        },
        [this](const List &found) {
            for (const Found &one : found) {
                const QString path = toText(one.entry.file);
                EditorDocument *editor = findEditor(path);
                if (editor == nullptr)
                    editor = addEditor(path, one.disk);
                m_journalled.insert(path, toText(one.entry.text));
                editor->recover(one.entry.text, one.entry.diskDigest);
                setCurrentWidget(editor);
            }
        });
}

} // namespace heddle
