// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/editor/CodeEditor.h"

#include <string>

namespace heddle {

class Banner;
class FindBar;

/// One file as a tab: its editor, find bar and the banner about changes outside. Does no file access
/// itself: the window reads and writes in jobs and hands the bytes in. GUI thread.
class EditorDocument : public QWidget {
    Q_OBJECT

public:
    /// `path` absolute. Bytes that are not UTF-8 open read-only, so that they are never damaged.
    EditorDocument(const QString &path, const std::string &bytes, QWidget *parent = nullptr);

    const QString &path() const { return m_path; }
    QString name() const;
    CodeEditor *editor() const { return m_editor; }
    FindBar *findBar() const { return m_find; }

    /// What would be written: the text on screen with the file's byte-order mark.
    std::string bytes() const;
    bool isModified() const { return m_editor->isModified(); }
    /// SHA-256 of the bytes that the text was last loaded from or saved as.
    const std::string &diskDigest() const { return m_diskDigest; }

    /// The job has written these bytes.
    void markSaved(const std::string &bytes);
    /// The file now holds `bytes`: reloads when nothing is unsaved, else asks in the banner.
    void diskChanged(const std::string &bytes);
    void diskRemoved();
    /// Text of an earlier run that was never saved.
    void recover(const std::string &text, const std::string &diskDigest);
    /// Text that landed by a decision: one undo step, then saved on disk by the core.
    void land(const std::string &bytes);

signals:
    void titleChanged();
    void saveRequested();

private:
    void reload(const std::string &bytes);
    QString decode(const std::string &bytes);

    QString m_path;
    CodeEditor *m_editor;
    FindBar *m_find;
    Banner *m_banner;
    std::string m_diskDigest;
    bool m_hasByteOrderMark = false;
};

} // namespace heddle
