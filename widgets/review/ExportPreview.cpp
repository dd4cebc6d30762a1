// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/review/ExportPreview.h"

#include "widgets/common/Text.h"
#include "widgets/editor/CodeEditor.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

ExportPreview::ExportPreview(QWidget *parent)
    : QWidget(parent),
      m_heading(new QLabel(this)),
      m_note(new QLabel(this)),
      m_asModel(new QPushButton(tr("ModelNew file"), this)),
      m_asNative(new QPushButton(tr("Native folder"), this)),
      m_folder(new QLineEdit(this)),
      m_write(new QPushButton(tr("Write"), this)),
      m_open(new QPushButton(tr("Open the folder"), this)),
      m_files(new QTabWidget(this))
{
    setAccessibleName(tr("Export preview"));
    auto *header = new QFrame(this);
    header->setObjectName(u"reviewBar"_s);
    m_heading->setProperty("heading", true);
    m_heading->setWordWrap(true);
    m_note->setProperty("muted", true);
    m_note->setWordWrap(true);
    m_asModel->setAccessibleName(tr("Preview the ModelNew file"));
    m_asNative->setAccessibleName(tr("Preview the native folder"));
    for (QPushButton *format : {m_asModel, m_asNative}) {
        format->setCheckable(true);
        format->setAutoDefault(false);
    }
    auto *folderLabel = new QLabel(tr("Into the folder"), header);
    m_folder->setAccessibleName(tr("Folder of the export"));
    folderLabel->setBuddy(m_folder);
    auto *choose = new QPushButton(tr("Choose…"), header);
    choose->setAccessibleName(tr("Choose the folder of the export"));
    m_write->setAccessibleName(tr("Write these files"));
    m_write->setProperty("accent", true);
    m_open->setAccessibleName(tr("Open the folder of the export"));
    for (QPushButton *button : {choose, m_write, m_open})
        button->setAutoDefault(false);
    m_files->setAccessibleName(tr("Files of the export"));
    m_files->tabBar()->setAccessibleName(tr("Files of the export"));
    m_files->setDocumentMode(true);

    const int space = fontMetrics().height() / 2;
    auto *top = new QHBoxLayout;
    top->addWidget(m_heading, 1);
    top->addWidget(m_open, 0, Qt::AlignTop);
    top->addWidget(m_asModel, 0, Qt::AlignTop);
    top->addWidget(m_asNative, 0, Qt::AlignTop);
    auto *bottom = new QHBoxLayout;
    bottom->addWidget(folderLabel);
    bottom->addWidget(m_folder, 1);
    bottom->addWidget(choose);
    bottom->addWidget(m_write);
    auto *rows = new QVBoxLayout(header);
    rows->setContentsMargins(space * 3 / 2, space, space, space);
    rows->setSpacing(space);
    rows->addLayout(top);
    rows->addWidget(m_note);
    rows->addLayout(bottom);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(header);
    column->addWidget(m_files, 1);
    setFocusProxy(m_files);

    // Toggled, not clicked: a screen reader toggles.
    connect(m_asModel, &QPushButton::toggled, this, [this] { ask("modelnew"); });
    connect(m_asNative, &QPushButton::toggled, this, [this] { ask("native"); });
    connect(choose, &QPushButton::clicked, this, &ExportPreview::chooseFolderRequested);
    connect(m_folder, &QLineEdit::textChanged, this, &ExportPreview::showState);
    connect(m_write, &QPushButton::clicked, this, [this] { emit writeRequested(folder()); });
    connect(m_open, &QPushButton::clicked, this, [this] { emit openFolderRequested(writtenFolder()); });
    showState();
}

void ExportPreview::ask(const std::string &as)
{
    if (m_isShowing)
        return;
    // What is shown decides which button is down: a preview may fail or take a while.
    showFormat();
    if (as != stringOr(m_info.preview, "as"))
        emit formatRequested(toText(as));
}

void ExportPreview::showFormat()
{
    m_isShowing = true;
    const std::string as = stringOr(m_info.preview, "as");
    m_asModel->setChecked(as == "modelnew");
    m_asNative->setChecked(as == "native");
    m_isShowing = false;
}

QString ExportPreview::folder() const { return m_folder->text().trimmed(); }

void ExportPreview::setFolder(const QString &folder) { m_folder->setText(folder); }

void ExportPreview::setWritten(const QString &candidate, const QString &as, const QString &folder)
{
    if (candidate != m_info.candidate)
        return;
    m_written.insert(as, folder);
    showState();
}

QString ExportPreview::writtenFolder() const
{
    return m_written.value(toText(stringOr(m_info.preview, "as")));
}

void ExportPreview::showState()
{
    const QString written = writtenFolder();
    QStringList names;
    for (const auto &item : memberOr(m_info.preview, "files").items())
        names << toText(item.key());
    QString heading = tr("Export of %1: these files are not written yet").arg(m_info.taskPath);
    if (!written.isEmpty() && names.size() == 1)
        heading = tr("Export of %1: %2 is written to %3").arg(m_info.taskPath, names.front(), written);
    else if (!written.isEmpty())
        heading = tr("Export of %1: %n files are written to %2", nullptr, static_cast<int>(names.size()))
                      .arg(m_info.taskPath, written);
    m_heading->setAccessibleName(heading);
    // A long path may be broken after each folder.
    m_heading->setText(heading.replace(u'/', u"/\u200b"_s));
    m_open->setVisible(!written.isEmpty());
    // Only a new or empty folder takes an export, so the one that has it is not offered again.
    m_write->setEnabled(!folder().isEmpty() && folder() != written);
}

void ExportPreview::setPreview(const ExportInfo &info)
{
    if (info.candidate != m_info.candidate || info.taskPath != m_info.taskPath)
        m_written.clear();
    m_info = info;
    const bool isModel = stringOr(info.preview, "as") == "modelnew";
    showFormat();
    if (!isModel)
        m_note->setText(tr("The sources and the launch plan as they were judged."));
    else if (boolOr(memberOr(info.preview, "checked"), "ok", false))
        m_note->setText(
            tr("This file gave the task's outputs in a clean Python process, with PyTorch alone."));
    else
        m_note->setText(tr("This file was not checked in a clean Python process."));
    setFolder(info.folder);
    showState();
    showFiles();
}

void ExportPreview::showFiles()
{
    while (m_files->count() > 0) {
        QWidget *old = m_files->widget(0);
        m_files->removeTab(0);
        old->deleteLater();
    }
    for (const auto &[name, text] : memberOr(m_info.preview, "files").items()) {
        auto *editor = new CodeEditor(languageOf(toText(name)), m_files);
        editor->loadText(text.is_string() ? toText(text.get<std::string>()) : QString());
        editor->setReadOnly(true);
        m_files->addTab(editor, toText(name));
    }
}

} // namespace heddle
