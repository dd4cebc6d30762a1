// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QPushButton;
class QTabWidget;

namespace heddle {

/// What an export would write, as the window knows it; a value.
struct ExportInfo {
    QString taskPath, candidate;
    QString folder; ///< proposed to the person
    Json preview;   ///< {"files": {name: text}, "as", "checked"}, as Workbench::previewExport gives it
};

/// The tab that shows the files of an export before anything is written. It writes nothing itself. GUI thread.
class ExportPreview : public QWidget {
    Q_OBJECT

public:
    explicit ExportPreview(QWidget *parent = nullptr);

    void setPreview(const ExportInfo &info);
    const ExportInfo &info() const { return m_info; }
    QString folder() const;

signals:
    void formatRequested(const QString &as); ///< "modelnew" or "native"
    void writeRequested(const QString &folder);
    void chooseFolderRequested();

public slots:
    void setFolder(const QString &folder);

private:
    void ask(const std::string &as);
    void showFormat();
    void showFiles();

    ExportInfo m_info;
    QLabel *m_heading;
    QLabel *m_note;
    QPushButton *m_asModel;
    QPushButton *m_asNative;
    QLineEdit *m_folder;
    QPushButton *m_write;
    QTabWidget *m_files;
    bool m_isShowing = false;
};

} // namespace heddle
