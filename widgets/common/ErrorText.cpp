// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/common/ErrorText.h"

#include "widgets/common/Text.h"

using namespace Qt::StringLiterals;

namespace heddle {

ErrorMessage ErrorText::message(const Error &error)
{
    ErrorMessage message;
    // A process that failed prints its own error, with the remedy that fits best on a line of its own.
    const QString said = toText(error.message());
    const QString what = oneLine(said.section(u"\n  next: "_s, 0, 0));
    const QString inner = said.section(u"\n  next: "_s, 1, 1).section(u'\n', 0, 0).trimmed();
    message.title = tr("%1 %2").arg(sentence(error.code()), what);
    if (!error.where().empty())
        message.title = tr("%1 (%2)").arg(message.title, toText(error.where()));
    // The core knows the particular remedy; the general one stands in where it says none.
    message.next = !inner.isEmpty() ? inner
        : error.next().empty()      ? nextStep(error.code())
                                    : toText(error.next());
    message.details = toText(error.text());
    return message;
}

QString ErrorText::sentence(Code code)
{
    switch (code) {
    case Code::InvalidInput: return tr("This input can't be used:");
    case Code::NotFound: return tr("Something is missing:");
    case Code::Environment: return tr("This machine lacks something:");
    case Code::CompileFailed: return tr("The candidate did not build:");
    case Code::TaskFailed: return tr("The task itself failed:");
    case Code::Crashed: return tr("A process crashed:");
    case Code::TimedOut: return tr("It took too long:");
    case Code::OutOfMemory: return tr("It needed too much memory:");
    case Code::Cancelled: return tr("Cancelled:");
    case Code::Conflict: return tr("Something else changed it meanwhile:");
    case Code::Protocol: return tr("The worker gave an unexpected answer:");
    case Code::Io: return tr("A file could not be read or written:");
    case Code::NotCovered: return tr("The optimiser doesn't cover this:");
    case Code::Internal: return tr("Heddle made a mistake:");
    }
    return tr("Heddle made a mistake:");
}

QString ErrorText::nextStep(Code code)
{
    switch (code) {
    case Code::InvalidInput: return tr("Correct the place that is named and try again.");
    case Code::NotFound: return tr("Check that the file or program still exists, then try again.");
    case Code::Environment:
        return tr("Open the check-up on the welcome page: it says what is missing and how to get it.");
    case Code::CompileFailed: return tr("Open the Problems list and go to the first error.");
    case Code::TaskFailed:
        return tr("Run the task file by itself in Python, correct the error, and try again.");
    case Code::Crashed: return tr("Run it again; a fresh process has already taken over.");
    case Code::TimedOut: return tr("Try a smaller input, or give it a larger budget.");
    case Code::OutOfMemory: return tr("Try a smaller input, or close other programs.");
    case Code::Cancelled: return tr("Start it again when you are ready.");
    case Code::Conflict: return tr("Look at the newer state and decide again.");
    case Code::Protocol:
        return tr("Try again; if it happens twice, restart Heddle so that both sides have one version.");
    case Code::Io: return tr("Check the free space and the permissions of the folder.");
    case Code::NotCovered: return tr("Change the kernel by hand and press Judge, or choose another task.");
    case Code::Internal: return tr("Save your work and report the details below.");
    }
    return {};
}

} // namespace heddle
