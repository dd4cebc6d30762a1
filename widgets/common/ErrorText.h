// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/Error.h"

#include <QCoreApplication>
#include <QString>

namespace heddle {

/// An error as a person reads it: what happened, what to do next, and the details behind an expander.
struct ErrorMessage {
    QString title;
    QString next;
    QString details;
};

/// Maps each Code of the core to a translated sentence with a next step. Pure functions.
class ErrorText {
    Q_DECLARE_TR_FUNCTIONS(heddle::ErrorText)

public:
    static ErrorMessage message(const Error &error);

private:
    static QString sentence(Code code);
    static QString nextStep(Code code);
};

} // namespace heddle
