// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/File.h"
#include "core/json/Json.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

/// One line of the truth. `data` follows docs/architecture/events.md by `type`.
struct Event {
    std::int64_t id = 0; ///< ascending over the workspace
    std::string session; ///< empty for workspace-wide events
    std::string time;    ///< UTC, "2026-11-30T10:30:45.123Z"
    std::string actor;   ///< "person", "builtin", "system", or a policy's name
    std::string type;
    Json data;
};

struct SessionRow {
    std::string id, taskPath, taskDigest, target, policy, state, startedAt, endedAt;
};
struct CandidateRow {
    std::string digest, session, parent, format, policy, planItem;
    std::int64_t event = 0;
};
struct VerdictRow {
    std::string candidate, session, stage, verdictClass, taskDigest;
    Json report;
    std::int64_t event = 0;
};
struct ProposalRow {
    std::string id, session, taskPath, candidate, base, item, policy, summary;
    std::string state; ///< open, superseded, stale, accepted, accepted_in_part, rejected, withdrawn
    std::int64_t event = 0;
};
struct DecisionRow {
    std::int64_t event = 0;
    std::string proposal, session, actor, decision, reason, revision, previousHead;
    std::int64_t undoneBy = 0; ///< the inverse event, or 0
};
struct HeadRow {
    std::string taskPath, digest; ///< digest of the tree, empty at first
    std::int64_t event = 0;
};

struct PlanItemRow {
    std::string session, id, title, boundary, expected, state, note;
    std::int64_t event = 0; ///< the last event that changed it
};

/// What a test replaces.
struct StoreOptions {
    std::chrono::milliseconds busyTimeout{5000};
    /// Treat the file system as this remote one ("nfs"); empty: ask the system.
    std::string remoteFileSystem = {};
};

/// Who works on a session: {pid, start time of the process, boot id}. Released on destruction.
class Lease;

/// The workspace's SQLite database and blob store under `.heddle/` (or the state folder when the
/// workspace is read-only). `events` is the truth; the other tables are projections written in the same
/// transaction. One Store per thread, any number of processes; every method is synchronous and may
/// block on another writer for at most 5 s (Conflict).
class Store {
public:
    /// Errors: NotFound without such a folder; InvalidInput for a `.heddle` that is no real folder or a
    /// database made by a newer Heddle; Conflict where another process holds it; Io where it is damaged
    /// (it is never recreated over).
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path &workspace,
                                               const StoreOptions &options = {});
    virtual ~Store() = default;

    virtual const std::filesystem::path &workspace() const = 0;
    virtual const std::filesystem::path &folder() const = 0; ///< where the database is

    /// Appends and projects in one transaction. Decisions (types "decided", "undone", "landed") commit
    /// with synchronous=FULL. The event comes back as it is stored: text that is no UTF-8 is replaced.
    /// A proposal opened for the same session, policy and item supersedes the open one. Errors:
    /// InvalidInput for an unknown type or missing member; NotFound for a session, proposal, plan item or
    /// decision that isn't there; Conflict for an act that the present state doesn't allow; Io.
    virtual Result<Event> append(const std::string &session, const std::string &actor,
                                 const std::string &type, const Json &data) = 0;
    virtual Result<std::vector<Event>> eventsAfter(std::int64_t id, const std::string &session = {},
                                                   int limit = 10000) = 0;
    virtual Result<std::int64_t> lastEventId() = 0;

    virtual Result<std::vector<SessionRow>> sessions(const std::string &taskPath = {}) = 0;
    virtual Result<std::optional<SessionRow>> session(const std::string &id) = 0;
    virtual Result<std::vector<CandidateRow>> candidates(const std::string &session) = 0;
    /// The newest verdict of a candidate in that stage ("quick", "confirmed"; empty: either) for that text of the task
    /// (empty: any). A verdict says nothing about another text: who shows or uses one as the candidate's gives the digest.
    virtual Result<std::optional<VerdictRow>> verdict(const std::string &candidate,
                                                      const std::string &stage = {},
                                                      const std::string &taskDigest = {}) = 0;
    virtual Result<std::vector<ProposalRow>> proposals(const std::string &taskPath = {}) = 0;
    virtual Result<std::optional<ProposalRow>> proposal(const std::string &id) = 0;
    virtual Result<std::vector<DecisionRow>> decisions(const std::string &taskPath = {}) = 0;
    virtual Result<std::optional<HeadRow>> head(const std::string &taskPath) = 0;
    /// The items of a session's present plan, in their order.
    virtual Result<std::vector<PlanItemRow>> planItems(const std::string &session) = 0;
    /// Differs from the value before whenever events may have come, from here or another process. Cheap.
    virtual Result<std::int64_t> changeCounter() = 0;

    /// Content-addressed store: written and fsynced before the event that names it.
    virtual Result<std::string> putBlob(std::string_view bytes) = 0;
    virtual Result<std::string> blob(const std::string &digest) = 0;
    virtual Result<std::string> putTree(const FileTree &tree) = 0; ///< returns treeDigest(tree)
    virtual Result<FileTree> tree(const std::string &digest) = 0;

    /// The right to work on a session; a dead holder's lease is taken over. Error Conflict names the holder.
    virtual Result<std::unique_ptr<Lease>> takeLease(const std::string &session) = 0;

    /// Rebuilds every projection from the events and reports the first difference as Internal.
    virtual Result<void> checkProjections() = 0;
};

class Lease {
public:
    virtual ~Lease() = default;
};

} // namespace heddle
