// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/editor/EditorDocument.h"

#include "core/base/Digest.h"
#include "widgets/common/Banner.h"
#include "widgets/common/Text.h"
#include "widgets/editor/FindBar.h"

#include <QPushButton>
#include <QStringDecoder>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF";

} // namespace

EditorDocument::EditorDocument(const QString &path, const std::string &bytes, QWidget *parent)
    : QWidget(parent),
      m_path(path),
      m_editor(new CodeEditor(languageOf(path), this)),
      m_find(new FindBar(m_editor, this)),
      m_banner(new Banner(this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_banner);
    column->addWidget(m_editor, 1);
    column->addWidget(m_find);
    setFocusProxy(m_editor);
    setAccessibleName(tr("Source of %1").arg(name()));
    reload(bytes);
    connect(m_editor, &CodeEditor::modificationChanged, this, &EditorDocument::titleChanged);
}

QString EditorDocument::name() const { return m_path.section(u'/', -1); }

QString EditorDocument::decode(const std::string &bytes)
{
    std::string_view body = bytes;
    m_hasByteOrderMark = body.starts_with(byteOrderMark);
    if (m_hasByteOrderMark)
        body.remove_prefix(byteOrderMark.size());
    QStringDecoder decoder(QStringDecoder::Utf8, QStringConverter::Flag::Stateless);
    const QString text = decoder(QByteArrayView(body.data(), static_cast<qsizetype>(body.size())));
    const bool isSafe = !decoder.hasError() && !text.contains(QChar(0));
    m_editor->setReadOnly(!isSafe);
    if (!isSafe) {
        m_banner->showMessage(BannerKind::Warning,
                              tr("This file is not UTF-8 text, so it is shown read-only."),
                              tr("Convert it with another program to edit it here."));
    }
    return text;
}

void EditorDocument::reload(const std::string &bytes)
{
    m_editor->loadText(decode(bytes));
    m_diskDigest = sha256Hex(bytes);
    emit titleChanged();
}

std::string EditorDocument::bytes() const
{
    return (m_hasByteOrderMark ? std::string(byteOrderMark) : std::string()) + toUtf8(m_editor->text());
}

void EditorDocument::markSaved(const std::string &bytes)
{
    m_diskDigest = sha256Hex(bytes);
    // Typing may have gone on while the job wrote; then the text is still unsaved.
    if (this->bytes() == bytes)
        m_editor->setSaved();
    m_banner->hide();
    emit titleChanged();
}

void EditorDocument::diskChanged(const std::string &bytes)
{
    const std::string digest = sha256Hex(bytes);
    if (digest == m_diskDigest)
        return;
    if (!isModified()) {
        const int line = m_editor->currentLine();
        reload(bytes);
        m_editor->goTo(line);
        return;
    }
    m_diskDigest = digest;
    m_banner->showMessage(BannerKind::Warning,
                          tr("%1 was changed outside Heddle, and you have unsaved text.").arg(name()),
                          tr("Saving keeps your text; reloading drops it."));
    m_banner->clearButtons();
    QPushButton *keep = m_banner->addButton(tr("Keep mine"), tr("Keep my unsaved text"));
    QPushButton *load = m_banner->addButton(tr("Reload"), tr("Drop my text and reload the file"));
    connect(keep, &QPushButton::clicked, m_banner, &QWidget::hide);
    connect(load, &QPushButton::clicked, this, [this, bytes] {
        m_banner->hide();
        reload(bytes);
    });
}

void EditorDocument::diskRemoved()
{
    if (m_diskDigest.empty())
        return;
    m_diskDigest.clear();
    m_banner->clearButtons();
    m_banner->showMessage(BannerKind::Warning, tr("%1 no longer exists on disk.").arg(name()),
                          tr("Save to write it again, or close the tab to let it go."));
}

void EditorDocument::recover(const std::string &text, const std::string &diskDigest)
{
    const bool hasChanged = diskDigest != m_diskDigest;
    m_editor->replaceText(toText(text));
    m_banner->clearButtons();
    m_banner->showMessage(BannerKind::Info, tr("Unsaved text of %1 was recovered.").arg(name()),
                          hasChanged ? tr("The file on disk has changed since; compare before you save.")
                                     : tr("Save to keep it, or undo to go back to the file."));
}

void EditorDocument::land(const std::string &bytes)
{
    m_editor->replaceText(decode(bytes));
    markSaved(bytes);
}

} // namespace heddle
