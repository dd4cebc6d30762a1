// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/JobBridge.h"
#include "app/gui/WorkspaceController.h"
#include "widgets/common/Theme.h"

#include <QMainWindow>
#include <QPalette>

#include <memory>

class QFileSystemWatcher;
class QLabel;
class QStackedWidget;

namespace heddle {

class Banner;
class CommandPalette;
class DocumentArea;
class JobIndicator;
class ProposalDocument;
class WelcomePage;
class WorkDocks;
struct WindowActions;

/// What the window is given at its start.
struct WindowSetup {
    Environment environment;
    WorkbenchFactory factory;
    std::string target = "cpu";
    QPalette systemPalette; ///< of the desktop, before ours was applied
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
    void setAppearance(Appearance appearance);
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
    void restoreLayout();
    void saveLayout();

    void openWorkspace(const std::filesystem::path &folder,
                       const std::optional<std::filesystem::path> &loneFile);
    void openSample(const QString &path);
    void rescanTasks();
    void runCheckUp();
    void askTrust();
    void applyNews(const std::vector<Event> &events);
    void showTask(const QString &taskPath);
    void showProposals();
    void refreshProposal(ProposalDocument *document);
    void refreshActions();
    void showMeasurement(std::int64_t id);
    void showError(const Error &error);
    void actionDone(const QString &action, const Json &report);
    void judgeCurrent();
    void exportCurrent();
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
    QFileSystemWatcher *m_folderWatcher = nullptr;
    QString m_shownTask;
    Appearance m_appearance = Appearance::System;
    int m_zoom = 0;
};

} // namespace heddle
