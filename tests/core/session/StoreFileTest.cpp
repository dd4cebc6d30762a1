// SPDX-License-Identifier: Apache-2.0
#include "StoreFixture.h"

#include "core/session/Connection.h"
#include "core/session/FileSystemKind.h"
#include "core/session/Migrations.h"

#include <SQLiteCpp/Statement.h>

#include <algorithm>

namespace heddle::test {

namespace {

namespace fs = std::filesystem;

using StoreFile = StoreFixture;

TEST_F(StoreFile, TheFolderIgnoresItselfInGit)
{
    EXPECT_EQ(store().folder(), fs::canonical(workspace()) / ".heddle");
    EXPECT_EQ(*readFile(workspace() / ".heddle/.gitignore"), "*\n");
}

TEST_F(StoreFile, AMissingWorkspaceIsNotCreated)
{
    const auto opened = Store::open(workspace() / "none");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::NotFound);
    EXPECT_FALSE(fs::exists(workspace() / "none"));
}

TEST_F(StoreFile, AHeddleFolderThatIsALinkIsRefused)
{
    closeStore();
    fs::rename(workspace() / ".heddle", workspace() / "elsewhere");
    fs::create_directory_symlink(workspace() / "elsewhere", workspace() / ".heddle");
    const auto opened = Store::open(workspace());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::InvalidInput);
}

TEST_F(StoreFile, EventsSurviveClosingAndOpening)
{
    startSession("s1");
    closeStore();
    EXPECT_EQ(open()->eventsAfter(0)->size(), 1u);
}

class DamagedStore : public StoreFixture, public ::testing::WithParamInterface<int> {};

TEST_P(DamagedStore, GivesAClearErrorAndIsNeverWrittenOver)
{
    startSession("s1");
    for (int i = 0; i < 200; ++i)
        must("s1", "builtin", "note", {{"text", std::string(2000, 'n')}});
    closeStore();
    std::string bytes = *readFile(databaseFile());
    switch (GetParam()) {
    case 0: // the header
        bytes.replace(0, 100, std::string(100, 'z'));
        break;
    case 1: // cut off
        bytes.resize(bytes.size() / 2);
        break;
    case 2: // every page but the first
        std::fill(bytes.begin() + 4096, bytes.end(), 'z');
        break;
    default: // another kind of file
        bytes = "this is a letter to my aunt, which I keep under a strange name\n";
    }
    ASSERT_TRUE(writeFileAtomically(databaseFile(), bytes));
    const auto opened = Store::open(workspace());
    Code code = Code::Internal;
    if (!opened) {
        code = opened.error().code();
        EXPECT_NE(opened.error().text().find("damaged"), std::string::npos) << opened.error().text();
        EXPECT_FALSE(opened.error().next().empty());
    } else {
        const auto events = (*opened)->eventsAfter(0);
        ASSERT_FALSE(events);
        code = events.error().code();
        EXPECT_FALSE((*opened)->append("s1", "builtin", "note", {{"text", "x"}}));
        EXPECT_FALSE((*opened)->checkProjections());
    }
    EXPECT_EQ(code, Code::Io);
    EXPECT_EQ(*readFile(databaseFile()), bytes) << "the damaged file was changed";
}

INSTANTIATE_TEST_SUITE_P(Damages, DamagedStore, ::testing::Range(0, 4));

TEST_F(StoreFile, ADatabaseOfANewerHeddleIsRefusedAndLeftAlone)
{
    closeStore();
    {
        SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE);
        database.exec("PRAGMA user_version=99");
    }
    const auto opened = Store::open(workspace());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::InvalidInput);
    EXPECT_NE(opened.error().text().find("newer Heddle"), std::string::npos);
    SQLite::Database database(databaseFile().string(), SQLite::OPEN_READONLY);
    EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 99);
}

TEST_F(StoreFile, AnotherProgramsDatabaseIsRefused)
{
    closeStore();
    fs::remove(databaseFile());
    {
        SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        database.exec("CREATE TABLE recipes(name TEXT)");
    }
    const auto opened = Store::open(workspace());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code(), Code::InvalidInput);
}

TEST_F(StoreFile, AMigrationChangesTheSchemaAndReplaysTheEvents)
{
    startSession("s1");
    openProposal("s1", "p1", "");
    closeStore();
    SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE);
    // A projection is lost, as if the new version had dropped and made its table again.
    auto steps = migrations();
    steps.push_back("DELETE FROM proposals; CREATE TABLE extra(id INTEGER PRIMARY KEY);");
    const auto migrated = migrate(database, databaseFile(), steps);
    ASSERT_TRUE(migrated) << migrated.error().text();
    EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), static_cast<int>(steps.size()));
    EXPECT_EQ(database.execAndGet("SELECT count(*) FROM proposals").getInt(), 1);
    EXPECT_TRUE(database.tableExists("extra"));
    EXPECT_TRUE(migrate(database, databaseFile(), steps));
}

TEST_F(StoreFile, AMigrationThatFailsLeavesTheOldVersion)
{
    closeStore();
    SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE);
    auto steps = migrations();
    steps.push_back("CREATE TABLE extra(id); SELECT nonsense FROM nowhere;");
    EXPECT_THROW(static_cast<void>(migrate(database, databaseFile(), steps)), SQLite::Exception);
    EXPECT_FALSE(database.tableExists("extra"));
    EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 1);
}

TEST_F(StoreFile, ATamperedProjectionIsFoundByTheCheck)
{
    startSession("s1");
    openProposal("s1", "p1", "");
    SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE, 5000);
    database.exec("UPDATE proposals SET state='accepted'");
    auto checked = store().checkProjections();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code(), Code::Internal);
    EXPECT_NE(checked.error().text().find("proposals row 1, column state"), std::string::npos)
        << checked.error().text();
    database.exec("DELETE FROM proposals");
    EXPECT_FALSE(store().checkProjections());
    database.exec("DELETE FROM events WHERE type='proposal_opened'");
    EXPECT_TRUE(store().checkProjections());
}

TEST_F(StoreFile, ADamagedEventIsNamedAndTheOthersCanBeRead)
{
    startSession("s1");
    must("s1", "builtin", "judged",
         {{"candidate", "c"}, {"stage", "quick"}, {"task_digest", "d"}, {"report", Json::object()}});
    SQLite::Database database(databaseFile().string(), SQLite::OPEN_READWRITE, 5000);
    for (const char *data : {"{\"x\": 1e999}", "{", "[]", ""}) {
        SQLite::Statement update(database, "UPDATE events SET data=? WHERE id=2");
        update.bind(1, data);
        update.exec();
        const auto events = store().eventsAfter(1);
        ASSERT_FALSE(events) << data;
        EXPECT_EQ(events.error().code(), Code::Io);
        EXPECT_EQ(events.error().where(), "event 2");
        EXPECT_FALSE(store().verdict("c"));
        EXPECT_FALSE(store().checkProjections());
        EXPECT_EQ(store().eventsAfter(0, {}, 1)->size(), 1u);
    }
}

TEST_F(StoreFile, LocalFoldersAreLocalAndProcIsNoNetwork)
{
    EXPECT_EQ(remoteFileSystemName("/proc"), "");
    EXPECT_EQ(remoteFileSystemName("/does/not/exist"), "");
}

TEST_F(StoreFile, OnARemoteFileSystemTheStoresOfOneProcessShareOneConnection)
{
    closeStore();
    const StoreOptions remote{.busyTimeout = std::chrono::milliseconds(200), .remoteFileSystem = "nfs"};
    auto first = open(remote);
    auto second = open(remote);
    ASSERT_TRUE(first->append("", "person", "trusted", {{"folder", "x"}}));
    EXPECT_EQ(second->eventsAfter(0)->size(), 1u);
    const auto counter = *second->changeCounter();
    ASSERT_TRUE(first->append("", "person", "trusted", {{"folder", "y"}}));
    EXPECT_NE(*second->changeCounter(), counter);
}

} // namespace

} // namespace heddle::test
