// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLocalServer>
#include <QObject>
#include <QString>

#include <filesystem>

namespace heddle {

/// Makes sure that a workspace has one window: the first process listens, a second one asks it to come to the
/// front and leaves. A socket in the user's runtime folder. GUI thread.
class InstanceLock : public QObject {
    Q_OBJECT

public:
    explicit InstanceLock(const std::filesystem::path &workspace, QObject *parent = nullptr);

    /// Asks the window that is open, waiting at most a quarter of a second; before any window of ours exists.
    bool raiseOther();
    /// Becomes the one that answers. False when the socket can't be made; the window works without.
    bool listen();

signals:
    void raiseRequested();

private:
    QString m_name;
    QLocalServer m_server;
};

} // namespace heddle
