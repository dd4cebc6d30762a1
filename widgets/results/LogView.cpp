// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/results/LogView.h"

#include "widgets/common/Text.h"
#include "widgets/editor/EditorStyle.h"

using namespace Qt::StringLiterals;

namespace heddle {

namespace {

constexpr int mostLines = 5000;
constexpr std::size_t longestData = 400;

} // namespace

LogView::LogView(QWidget *parent) : QPlainTextEdit(parent)
{
    setAccessibleName(tr("Event log"));
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setMaximumBlockCount(mostLines);
    setFont(codeFont());
    setPlaceholderText(tr("Events of this workspace appear here."));
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setTabChangesFocus(true);
}

void LogView::appendEvents(const std::vector<Event> &events)
{
    QStringList lines;
    for (const Event &event : events) {
        std::string text = compactText(event.data);
        if (text.size() > longestData)
            text = text.substr(0, longestData) + " …";
        lines << u"%1  %2  %3  %4  %5"_s.arg(event.id, 5)
                     .arg(toText(event.time), toText(event.actor), toText(event.type), toText(text));
    }
    if (!lines.isEmpty())
        appendPlainText(lines.join(u'\n'));
}

} // namespace heddle
