// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/export/Export.h"
#include "core/runtime/server/Builder.h"

namespace heddle {

/// The files of an export: `as` is "modelnew" (one file that runs with PyTorch alone) or "native" (the folder). A
/// modelnew is checked in a clean Python process, with nothing of Heddle, against the task's Model.
/// {"files": {name: text}, "checked": {"ok", "worst", ...} or null}. Errors: InvalidInput for a candidate that has no such
/// export; Internal when the check fails.
Result<Json> exportAs(Machine &machine, Builder &builder, const Json &taskInfo, const FileTree &files,
                      const std::string &as, const std::string &taskSource, const CancelToken &cancel);

/// Compiles the export's object with the very command that the export would run, into Machine::exportObjects().
Result<void> prebuildExport(Machine &machine, Builder &builder, const ExportRequest &request,
                            const CancelToken &cancel);

} // namespace heddle
