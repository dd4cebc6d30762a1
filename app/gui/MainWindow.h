// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/JobBridge.h"
#include "app/gui/WorkspaceController.h"
#include "core/settings/Settings.h"
#include "widgets/common/Status.h"
#include "widgets/common/Theme.h"

#include <QMainWindow>
#include <QPalette>

#include <memory>
#include <optional>
#include <string>

class QFileSystemWatcher;
class QLabel;
class QStackedWidget;
class QToolButton;

namespace heddle {

class Banner;
class CommandPalette;
class CheckUpView;
class DocumentArea;
class ExportPreview;
class JobIndicator;
class ProposalDocument;
class StartPage;
class WelcomePage;
class WorkDocks;
struct WindowActions;

/// What the window is given at its start.
struct WindowSetup {
    Environment environment;
    WorkbenchFactory factory;
    std::optional<std::string> target; ///< what the person asked for at the start; else the setting counts
    QPalette systemPalette;            ///< of the desktop, before ours was applied
};

/// The window of one workspace: the welcome page until one is open, then the Work layout. Wiring only: views
/// are told what to show, their wishes go to the WorkspaceController. GUI thread.
class MainWindow : public QMainWindow {
    Q_OBJECT

public:
    explicit MainWindow(WindowSetup setup, QWidget *parent = nullptr);
    ~MainWindow() override;

    /// A folder, or a lone task file (its folder becomes the workspace and only that task is shown).
    void openPath(const QString &path);
    WorkspaceController *controller() const { return m_controller.get(); }
    const WindowActions &actions() const { return *m_actions; }
    DocumentArea *documents() const { return m_documents; }
    WorkDocks *docks() const { return m_docks; }
    QString currentTask() const;
    /// Where sessions of this window run: the person's choice, or the setting `target`.
    std::string target() const { return m_settings.text("target"); }
    void setAppearance(Appearance appearance);
    const JobBridge &jobs() const { return m_jobs; }
    void comeToFront();
    /// Opens the proposal at that place of the list, as a double click does. False: there is none.
    bool openProposal(int number);

protected:
    void closeEvent(QCloseEvent *event) override;

private:
    void buildCentre();
    void buildStatusBar();
    void connectActions();
    void connectEditActions();
    void connectViews();
    void connectController();
    void connectDockActions();
    void loadSettings(const std::filesystem::path &workspace);
    void keepSetting(const std::string &name, const Json &value);
    void setCodeSize(int points);
    void restoreLayout();
    void saveLayout();

    void openWorkspace(const std::filesystem::path &folder,
                       const std::optional<std::filesystem::path> &loneFile);
    void openSample(const QString &path);
    void rescanTasks();
    void runCheckUp();
    void showCheckUp(const Json &rows);
    void showMachine(Status status, const QString &text, const QString &tip);
    void connectCheckUp(CheckUpView *view);
    void showStartPage();
    void showDecisions();
    void askTrust();
    void applyNews(const std::vector<Event> &events);
    void showTask(const QString &taskPath);
    void showTaskVerdicts();
    void showProposals();
    void refreshProposal(ProposalDocument *document);
    void refreshActions();
    void showMeasurement(std::int64_t id);
    void showError(const Error &error);
    void actionDone(const QString &action, const Json &report);
    void judgeCurrent();
    void exportCurrent();
    void showExport(const Json &preview);
    void connectExport(ExportPreview *preview);
    void goToLine();
    void connectProposal(ProposalDocument *document);
    FileTree headBuffers(const std::string &taskPath) const;
    TaskInput taskInput(const QString &taskPath) const;

    WindowSetup m_setup;
    JobBridge m_jobs;
    std::unique_ptr<WorkspaceController> m_controller;
    std::unique_ptr<WindowActions> m_actions;
    std::optional<std::filesystem::path> m_loneFile;
    QStackedWidget *m_centre = nullptr;
    WelcomePage *m_welcome = nullptr;
    DocumentArea *m_documents = nullptr;
    WorkDocks *m_docks = nullptr;
    CommandPalette *m_palette = nullptr;
    Banner *m_trustBanner = nullptr;
    Banner *m_messageBanner = nullptr;
    JobIndicator *m_jobIndicator = nullptr;
    QLabel *m_place = nullptr;
    QLabel *m_target = nullptr;
    QLabel *m_sandbox = nullptr;
    QToolButton *m_machine = nullptr;
    StartPage *m_start = nullptr;
    QFileSystemWatcher *m_folderWatcher = nullptr;
    QString m_shownTask;
    Settings m_settings;
    std::optional<Appearance> m_appearance;
    int m_codeSize = 0;             ///< in points; 0 before the settings were read
    Json m_checkUp = Json::array(); ///< rows of the last check-up; empty before one
    bool m_isChecking = false;
    bool m_hasScanned = false;
    bool m_hasMeasured = false; ///< results came with an earlier part of the news
};

} // namespace heddle
