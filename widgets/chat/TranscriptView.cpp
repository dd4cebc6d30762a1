// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/chat/TranscriptView.h"

#include "widgets/common/Text.h"
#include "widgets/common/Theme.h"

#include <QEvent>
#include <QScrollBar>
#include <QTextCursor>
#include <QUrl>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

/// A session of hundreds of thousands of events keeps its newest part on screen; the log has them all.
constexpr std::size_t mostLines = 2000;
/// So many lines are laid out in one go: a few milliseconds.
constexpr std::size_t linesAtOnce = 40;

QTextCharFormat formatOf(const Fragment &fragment, const Theme &theme)
{
    QTextCharFormat format;
    format.setForeground(fragment.kind == Fragment::Kind::Muted ? theme.mutedText : theme.text);
    if (fragment.kind == Fragment::Kind::Strong)
        format.setFontWeight(QFont::DemiBold);
    if (fragment.kind == Fragment::Kind::Link) {
        format.setForeground(theme.accent);
        format.setFontUnderline(true);
        format.setAnchor(true);
        format.setAnchorHref(u"event:%1"_s.arg(fragment.event));
    }
    return format;
}

} // namespace

TranscriptView::TranscriptView(QWidget *parent) : QTextBrowser(parent)
{
    setAccessibleName(tr("Transcript"));
    setFrameShape(QFrame::NoFrame);
    setOpenLinks(false);
    setUndoRedoEnabled(false);
    setPlaceholderText(tr("What the optimiser does and finds appears here."));
    setTextInteractionFlags(Qt::TextBrowserInteraction | Qt::LinksAccessibleByKeyboard
                            | Qt::TextSelectableByKeyboard);
    // The document drops its oldest paragraphs by itself; a line is one or two.
    document()->setMaximumBlockCount(static_cast<int>(2 * mostLines));
    m_layOut.setSingleShot(true);
    connect(&m_layOut, &QTimer::timeout, this, &TranscriptView::layOutSome);
    document()->setDocumentMargin(fontMetrics().height() * 0.6);
    connect(this, &QTextBrowser::anchorClicked, this, [this](const QUrl &url) {
        bool isNumber = false;
        const qlonglong event = url.path().toLongLong(&isNumber);
        if (isNumber)
            emit eventActivated(event);
    });
}

void TranscriptView::clearEvents()
{
    m_lines.clear();
    m_planTitles.clear();
    m_laidOut = 0;
    clear();
}

void TranscriptView::appendEvents(const std::vector<Event> &events)
{
    for (const Event &event : events) {
        if (event.type == "plan_written") {
            for (const Json &item : memberOr(event.data, "items"))
                m_planTitles[stringOr(item, "id")] = toText(stringOr(item, "title"));
        }
        const auto planned = m_planTitles.find(stringOr(event.data, "id"));
        const bool isOfPlan = event.type == "plan_item_changed" && planned != m_planTitles.end();
        Line line{EventText::timeOfDay(event), EventText::actorName(event.actor),
                  EventText::fragments(event, isOfPlan ? planned->second : QString())};
        if (!line.fragments.empty())
            m_lines.push_back(std::move(line));
    }
    while (m_lines.size() > mostLines) {
        m_lines.pop_front();
        m_laidOut -= m_laidOut > 0 ? 1 : 0;
    }
    if (!m_layOut.isActive())
        layOutSome();
}

void TranscriptView::layOutSome()
{
    const QScrollBar *bar = verticalScrollBar();
    const bool isAtEnd = bar->value() >= bar->maximum() - fontMetrics().height();
    const std::size_t end = std::min(m_lines.size(), m_laidOut + linesAtOnce);
    for (; m_laidOut < end; ++m_laidOut)
        insertLine(m_lines[m_laidOut],
                   m_laidOut > 0 && m_lines[m_laidOut - 1].actor == m_lines[m_laidOut].actor);
    if (isAtEnd)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    if (m_laidOut < m_lines.size())
        m_layOut.start(0);
}

void TranscriptView::insertLine(const Line &line, bool isSameActor)
{
    const Theme &theme = Theme::of(palette());
    m_shownTheme = &theme;
    QTextCursor cursor(document());
    cursor.movePosition(QTextCursor::End);
    const double height = fontMetrics().height();
    const auto startBlock = [this, &cursor](const QTextBlockFormat &format) {
        if (document()->isEmpty())
            cursor.setBlockFormat(format);
        else
            cursor.insertBlock(format);
    };
    if (!isSameActor) {
        QTextBlockFormat head;
        head.setTopMargin(document()->isEmpty() ? 0.0 : height * 0.7);
        head.setBottomMargin(height * 0.15);
        startBlock(head);
        cursor.insertText(line.actor, formatOf({Fragment::Kind::Strong, {}, 0}, theme));
        cursor.insertText(u"   "_s + line.time, formatOf({Fragment::Kind::Muted, {}, 0}, theme));
    }
    QTextBlockFormat body;
    body.setLeftMargin(height * 0.5);
    body.setBottomMargin(height * 0.2);
    body.setLineHeight(115, QTextBlockFormat::ProportionalHeight);
    startBlock(body);
    bool isFirst = true;
    for (const Fragment &fragment : line.fragments) {
        if (fragment.text.isEmpty())
            continue;
        if (!isFirst)
            cursor.insertText(u" "_s, formatOf({}, theme));
        cursor.insertText(fragment.text, formatOf(fragment, theme));
        isFirst = false;
    }
}

void TranscriptView::render()
{
    m_isRendering = true;
    const int place = verticalScrollBar()->value();
    clear();
    m_laidOut = 0;
    layOutSome();
    verticalScrollBar()->setValue(place);
    m_isRendering = false;
}

void TranscriptView::changeEvent(QEvent *event)
{
    QTextBrowser::changeEvent(event);
    // The colours are in the text, so the text is made again.
    const bool isStyled = event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange;
    if (!m_isRendering && isStyled && m_shownTheme != &Theme::of(palette()))
        render();
}

} // namespace heddle
