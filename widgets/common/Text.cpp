// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/Text.h"

#include <QFile>

namespace heddle {

QString toText(std::string_view utf8)
{
    return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size()));
}

QString pathText(const std::filesystem::path &path)
{
    const std::string native = path.string();
    return QFile::decodeName(QByteArray(native.data(), static_cast<qsizetype>(native.size())));
}

std::string toUtf8(const QString &text) { return text.toStdString(); }

std::filesystem::path toPath(const QString &text)
{
    return std::filesystem::path(QFile::encodeName(text).toStdString());
}

QString oneLine(const QString &text)
{
    const QStringList lines = text.trimmed().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    if (lines.size() < 2)
        return text.trimmed();
    return lines.first().trimmed() + QLatin1Char(' ') + lines.last().trimmed();
}

} // namespace heddle
