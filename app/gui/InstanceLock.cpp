// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/InstanceLock.h"

#include "core/base/Digest.h"
#include "core/base/File.h"
#include "widgets/common/Text.h"

#include <QLocalSocket>

namespace heddle {

namespace {

constexpr int patience = 250;

} // namespace

InstanceLock::InstanceLock(const std::filesystem::path &workspace, QObject *parent)
    : QObject(parent),
      m_name(pathText(runtimeFolder() / ("window-" + sha256Hex(workspace.string()).substr(0, 24) + ".sock")))
{
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, [this] {
        while (QLocalSocket *other = m_server.nextPendingConnection())
            other->deleteLater();
        emit raiseRequested();
    });
}

bool InstanceLock::raiseOther()
{
    QLocalSocket other;
    other.connectToServer(m_name);
    return other.waitForConnected(patience);
}

bool InstanceLock::listen()
{
    if (!makeFolder(toPath(m_name).parent_path()))
        return false;
    // Nobody answered, so a socket that is left is a dead one.
    QLocalServer::removeServer(m_name);
    return m_server.listen(m_name);
}

} // namespace heddle
