// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/rpc/WorkerSocket.h"

namespace heddle {

/// `heddle-worker --stdio`, the far end of an ssh connection: connects stdin and stdout with this machine's worker,
/// which is started on demand and stays. So a dropped connection takes no warm state along, and the next one finds the
/// tasks still open. Returns when either side ends. Errors: those of connectWorker().
Result<void> bridgeToWorker(const WorkerLaunch &launch);

} // namespace heddle
