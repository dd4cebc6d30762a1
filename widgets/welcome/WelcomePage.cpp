// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/welcome/WelcomePage.h"

#include "widgets/common/Icons.h"
#include "widgets/welcome/CheckUpView.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr int pathRole = Qt::UserRole;

QFrame *makeCard(const QString &title, QWidget *parent, QVBoxLayout *&column)
{
    auto *card = new QFrame(parent);
    card->setProperty("card", true);
    const int space = parent->fontMetrics().height() / 2;
    column = new QVBoxLayout(card);
    column->setContentsMargins(space * 3 / 2, space, space * 3 / 2, space * 3 / 2);
    column->setSpacing(space);
    auto *label = new QLabel(title, card);
    label->setProperty("heading", true);
    column->addWidget(label);
    return card;
}

QListWidget *makeList(const QString &name, QWidget *parent)
{
    auto *list = new QListWidget(parent);
    list->setAccessibleName(name);
    list->setFrameShape(QFrame::NoFrame);
    list->setIconSize(QSize(1, 1) * parent->fontMetrics().height());
    list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list->setMinimumHeight(parent->fontMetrics().height() * 11);
    return list;
}

} // namespace

WelcomePage::WelcomePage(QWidget *parent) : QScrollArea(parent)
{
    setAccessibleName(tr("Welcome"));
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    auto *page = new QWidget(this);
    page->setProperty("page", true);
    const int space = fontMetrics().height();

    auto *title = new QLabel(tr("Heddle"), page);
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 2.2);
    large.setWeight(QFont::DemiBold);
    title->setFont(large);
    auto *subtitle =
        new QLabel(tr("Make the operators of a PyTorch model faster, and know that it is true."), page);
    subtitle->setProperty("muted", true);
    auto *logo = new QLabel(page);
    logo->setPixmap(QIcon(u":/icons/heddle.svg"_s).pixmap(QSize(space * 4, space * 4), devicePixelRatioF()));
    auto *openFolder = new QPushButton(tr("Open folder…"), page);
    openFolder->setAccessibleName(tr("Open a folder of tasks"));
    openFolder->setProperty("accent", true);
    auto *openFile = new QPushButton(tr("Open file…"), page);
    openFile->setAccessibleName(tr("Open a task file"));
    auto *words = new QVBoxLayout;
    words->addWidget(title);
    words->addWidget(subtitle);
    auto *head = new QHBoxLayout;
    head->setSpacing(space);
    head->addWidget(logo);
    head->addLayout(words, 1);
    head->addWidget(openFile, 0, Qt::AlignVCenter);
    head->addWidget(openFolder, 0, Qt::AlignVCenter);

    QVBoxLayout *sampleColumn = nullptr;
    QFrame *samples = makeCard(tr("Sample tasks"), page, sampleColumn);
    m_samples = makeList(tr("Sample tasks"), samples);
    sampleColumn->addWidget(m_samples);
    QVBoxLayout *recentColumn = nullptr;
    QFrame *recent = makeCard(tr("Recent work"), page, recentColumn);
    m_recent = makeList(tr("Recent work"), recent);
    m_noRecent = new QLabel(tr("What you open appears here."), recent);
    m_noRecent->setProperty("muted", true);
    recentColumn->addWidget(m_recent);
    recentColumn->addWidget(m_noRecent);
    recentColumn->addStretch(1);
    auto *row = new QHBoxLayout;
    row->setSpacing(space);
    row->addWidget(samples, 1);
    row->addWidget(recent, 1);

    m_checkUp = new CheckUpView(page);

    auto *column = new QVBoxLayout(page);
    column->setContentsMargins(space * 3, space * 2, space * 3, space * 2);
    column->setSpacing(space * 3 / 2);
    column->addLayout(head);
    column->addLayout(row);
    column->addWidget(m_checkUp);
    column->addStretch(1);
    setWidget(page);

    connect(openFolder, &QPushButton::clicked, this, &WelcomePage::openFolderRequested);
    connect(openFile, &QPushButton::clicked, this, &WelcomePage::openFileRequested);
    connect(m_checkUp, &CheckUpView::checkUpRequested, this, &WelcomePage::checkUpRequested);
    for (QListWidget *list : {m_samples, m_recent}) {
        connect(list, &QListWidget::itemActivated, this,
                [this](const QListWidgetItem *item) { emit pathChosen(item->data(pathRole).toString()); });
    }
    setRecent({});
}

void WelcomePage::setSamples(const QStringList &paths)
{
    m_samples->clear();
    for (const QString &path : paths) {
        auto *item = new QListWidgetItem(themedIcon(u"file"_s), path.section(u'/', -1), m_samples);
        item->setData(pathRole, path);
        item->setToolTip(path);
    }
}

void WelcomePage::setRecent(const QStringList &paths)
{
    m_recent->clear();
    for (const QString &path : paths) {
        auto *item = new QListWidgetItem(themedIcon(u"folder"_s), path.section(u'/', -1), m_recent);
        item->setData(pathRole, path);
        item->setToolTip(path);
    }
    m_recent->setVisible(!paths.isEmpty());
    m_noRecent->setVisible(paths.isEmpty());
}

void WelcomePage::setCheckUpRunning(bool isRunning) { m_checkUp->setRunning(isRunning); }

void WelcomePage::setCheckUp(const Json &rows) { m_checkUp->setCheckUp(rows); }

} // namespace heddle
