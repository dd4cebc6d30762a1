// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/json/Json.h"

#include <QHash>
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

/// The tab that shows the files of an export before anything is written, and afterwards what was written and
/// where. It writes nothing itself. GUI thread.
class ExportPreview : public QWidget {
    Q_OBJECT

public:
    explicit ExportPreview(QWidget *parent = nullptr);

    void setPreview(const ExportInfo &info);
    const ExportInfo &info() const { return m_info; }
    QString folder() const;
    /// The export of that candidate in that format ("modelnew", "native") is in the folder now. Of another
    /// candidate than the one shown: nothing changes.
    void setWritten(const QString &candidate, const QString &as, const QString &folder);
    /// Where the files that are shown were written; empty before.
    QString writtenFolder() const;
    bool hasWritten() const { return !m_written.isEmpty(); } ///< in any format

signals:
    void formatRequested(const QString &as); ///< "modelnew" or "native"
    void writeRequested(const QString &folder);
    void chooseFolderRequested();
    void openFolderRequested(const QString &folder);

public slots:
    void setFolder(const QString &folder);

private:
    void ask(const std::string &as);
    void showFormat();
    void showState();
    void showFiles();

    ExportInfo m_info;
    QLabel *m_heading;
    QLabel *m_note;
    QPushButton *m_asModel;
    QPushButton *m_asNative;
    QLineEdit *m_folder;
    QPushButton *m_write;
    QPushButton *m_open;
    QTabWidget *m_files;
    QHash<QString, QString> m_written; ///< folder by format, of the candidate that is shown
    bool m_isShowing = false;
};

} // namespace heddle
