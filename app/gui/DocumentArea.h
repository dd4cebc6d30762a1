// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/JobBridge.h"
#include "app/gui/JudgeInput.h"
#include "core/json/Json.h"
#include "widgets/editor/Diagnostic.h"

#include <QFileSystemWatcher>
#include <QHash>
#include <QSet>
#include <QTabWidget>
#include <QTimer>

#include <filesystem>
#include <vector>

namespace heddle {

class EditorDocument;
class CheckUpView;
class EvidenceView;
class ExportPreview;
class ProposalDocument;

/// The tabs of the centre: source files, proposals, reports. Reads and writes files in io jobs, watches
/// them for changes outside, and journals unsaved text each second. GUI thread; owned by the window.
class DocumentArea : public QTabWidget {
    Q_OBJECT

public:
    explicit DocumentArea(JobBridge &jobs, QWidget *parent = nullptr);

    /// Where unsaved text is kept; text that a crash left there is opened again.
    void setJournal(const std::filesystem::path &folder);
    /// Opens or raises a file. `line` 0: stays where it is.
    void openFile(const QString &path, int line = 0, int column = 0);
    ProposalDocument *openProposal(const QString &id);
    ProposalDocument *findProposal(const QString &id) const;
    EvidenceView *openReport(const QString &key, const QString &title, const QString &heading,
                             const Json &report);

    /// The preview of a task's export, which a new one replaces.
    ExportPreview *openExport(const QString &taskPath);
    /// The open preview of the task's export, or nullptr.
    ExportPreview *findExport(const QString &taskPath) const;
    CheckUpView *openCheckUp();
    CheckUpView *findCheckUp() const;

    EditorDocument *currentEditor() const;
    ProposalDocument *currentProposal() const;
    EvidenceView *currentReport() const;
    EditorDocument *findEditor(const QString &path) const;
    /// Every open text, as it is on screen; and only those that are not saved.
    OpenTexts openTexts() const;
    OpenTexts unsavedTexts() const;

    void saveCurrent();
    void saveAll();
    void closeTab(int index);
    /// The size of code in points, in every view that shows code.
    void setCodeSize(int points);
    /// Shows compiler messages in editors of files below `folder`.
    void setDiagnostics(const QString &folder, const std::vector<Diagnostic> &diagnostics);
    /// A decision wrote these files: open editors follow as one undo step.
    void landFiles(const QString &folder, const FileTree &files);

protected:
    void tabInserted(int index) override;

signals:
    void failed(const heddle::Error &error);
    void currentPlaceChanged(int line, int column);
    void proposalOpened(heddle::ProposalDocument *document);
    void exportOpened(heddle::ExportPreview *preview);
    void checkUpOpened(heddle::CheckUpView *view);

private:
    EditorDocument *addEditor(const QString &path, const std::string &bytes);
    void save(EditorDocument *editor, bool closesAfter);
    void readAgain(const QString &path);
    void journal();
    void recover();
    QWidget *findTab(const QString &key) const;
    void showTitle(EditorDocument *editor);
    void removeTabOf(QWidget *document);

    JobBridge &m_jobs;
    QFileSystemWatcher m_watcher;
    QTimer m_journalTimer;
    std::filesystem::path m_journal;
    QHash<QString, QString> m_journalled; ///< text last written to the journal by path
    QSet<QString> m_opening;
    QHash<QString, std::pair<int, int>> m_places; ///< where to go once a file has been read
    QString m_diagnosticFolder;
    std::vector<Diagnostic> m_diagnostics;
};

} // namespace heddle
