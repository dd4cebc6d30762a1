// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"

#include <QRegularExpression>
#include <QTest>

#include <memory>

namespace heddle::testing {

/// The surroundings of a test of widgets: private XDG folders, and every Qt warning a failure. Call
/// init() at the start of each test function's run.
class GuiFixture {
public:
    GuiFixture()
    {
        auto folder = TempFolder::create("heddle-gui-");
        Q_ASSERT(folder);
        m_folder = std::make_unique<TempFolder>(std::move(*folder));
        for (const char *name : {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
            qputenv(name, QByteArray::fromStdString((path() / name).string()));
        if (!makeFolder(path() / "XDG_RUNTIME_DIR"))
            qFatal("no runtime folder");
    }

    /// The offscreen platform says of each window that it can't pass on size hints; that is no fault of ours.
    static void failOnWarnings()
    {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("^(?!This plugin does not support)")));
    }
    const std::filesystem::path &path() const { return m_folder->path(); }

private:
    std::unique_ptr<TempFolder> m_folder;
};

} // namespace heddle::testing
