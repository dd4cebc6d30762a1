// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/JobIndicator.h"

#include "widgets/common/Format.h"
#include "widgets/common/Icons.h"
#include "widgets/common/Text.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QToolButton>

using namespace Qt::StringLiterals;

namespace heddle {

JobIndicator::JobIndicator(QWidget *parent)
    : QWidget(parent),
      m_label(new QLabel(this)),
      m_bar(new QProgressBar(this)),
      m_cancel(new QToolButton(this))
{
    m_bar->setTextVisible(false);
    m_bar->setAccessibleName(tr("Progress of the running job"));
    m_bar->setFixedWidth(fontMetrics().averageCharWidth() * 18);
    m_cancel->setIcon(themedIcon(u"cancel"_s));
    m_cancel->setText(tr("Cancel"));
    m_cancel->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_cancel->setAccessibleName(tr("Cancel the running job"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(fontMetrics().height() / 2, 0, 0, 0);
    row->addWidget(m_label);
    row->addWidget(m_bar);
    row->addWidget(m_cancel);
    connect(m_cancel, &QToolButton::clicked, this, [this] {
        if (!m_jobs.empty())
            emit cancelRequested(m_jobs.begin()->first);
    });
    refresh();
}

void JobIndicator::jobStarted(std::uint64_t id, const QString &name)
{
    Job job{name, {}, {}};
    job.since.start();
    m_jobs.insert_or_assign(id, std::move(job));
    if (m_timer == 0)
        m_timer = startTimer(1000);
    refresh();
}

void JobIndicator::jobProgressed(std::uint64_t id, const Progress &progress)
{
    const auto job = m_jobs.find(id);
    if (job == m_jobs.end())
        return;
    job->second.progress = progress;
    refresh();
}

void JobIndicator::jobEnded(std::uint64_t id)
{
    m_jobs.erase(id);
    if (m_jobs.empty() && m_timer != 0) {
        killTimer(m_timer);
        m_timer = 0;
    }
    refresh();
}

QString JobIndicator::text() const { return m_label->text(); }

void JobIndicator::timerEvent(QTimerEvent *) { refresh(); }

void JobIndicator::refresh()
{
    const bool isBusy = !m_jobs.empty();
    m_bar->setVisible(isBusy);
    m_cancel->setVisible(isBusy);
    if (!isBusy) {
        m_label->setText(tr("Ready"));
        return;
    }
    const Job &job = m_jobs.begin()->second;
    const double spent = static_cast<double>(job.since.elapsed()) / 1e3;
    QString text = job.name;
    if (!job.progress.phase.empty())
        text = tr("%1: %2").arg(text, toText(job.progress.phase));
    const double fraction = job.progress.fraction;
    if (fraction > 0.05 && spent > 2.0) {
        //: %1 is a job with its phase, %2 the time left such as 0:12
        text = tr("%1, about %2 left").arg(text, Format::duration(spent * (1.0 - fraction) / fraction));
    } else {
        text = tr("%1, %2").arg(text, Format::duration(spent));
    }
    if (m_jobs.size() > 1)
        text = tr("%1 (more jobs: %2)").arg(text).arg(m_jobs.size() - 1);
    m_label->setText(text);
    m_label->setToolTip(toText(job.progress.detail));
    m_bar->setRange(0, fraction < 0.0 ? 0 : 1000);
    if (fraction >= 0.0)
        m_bar->setValue(static_cast<int>(fraction * 1000.0));
}

} // namespace heddle
