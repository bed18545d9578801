#include "jobs/sqlite/local_disk.h"

#include <gtest/gtest.h>

#include "jobs/open_store.h"
#include "jobs/sqlite/database.h"
#include "support/small_files.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

TEST(LocalDisk, NetworkFileSystemsAreKnownByNameAndLocalOnesAreNone) {
  EXPECT_EQ(network_file_system(0x6969L).value_or(""), "NFS");
  EXPECT_EQ(network_file_system(static_cast<long>(static_cast<int>(0xff534d42U))).value_or(""), "CIFS");
  EXPECT_FALSE(network_file_system(0xef53L));      // ext4
  EXPECT_FALSE(network_file_system(0x01021994L));  // tmpfs
}

// SQLite finds that out where it makes the log's index longer, and calls that neither a write nor a full disk.
TEST(OpenStore, AFileThatMayNotGrowToWhatAStoreNeedsIsNoFullDisk) {
  const TempFolder folder;
  const SmallFiles limit(16 << 10);
  const auto store = open_store({.url = folder.path()});
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().fault, Fault::refused) << store.error().text();
  EXPECT_NE(store.error().text().find("ulimit -f"), std::string::npos) << store.error().text();
}

TEST(OpenStore, AnOlderStoreIsBroughtUpAndKeepsItsJobs) {
  const TempFolder folder;
  {
    const auto store = open_store({.url = folder.path()}).value();
    std::vector<JobSpec> specs;
    for (const auto& [key, audio] : {std::pair{"a", 10}, {"b", 20}, {"more urgent", 5}, {"asked", 30}, {"later", 40}})
      specs.push_back({.key = key, .audio = Seconds(audio)});
    specs[2].priority = 1;
    specs[3].job_class = specs[4].job_class = JobClass::normal;
    const RunId run = store->begin_run({}).value();
    store->submit(run, specs).value();
    ASSERT_TRUE(store->end_run(run, {.devices = {{.device = "GPU-1", .audio = Seconds(30), .windows = 1}}}));
  }
  {
    auto first = Database::open(folder / "tutti.sqlite", std::chrono::seconds(1));
    ASSERT_TRUE(first);
    // As its first version was, which counted waiting in milliseconds and had the longest of every class go first.
    first->script(
        "DROP INDEX tasks_claimable_of_batch; ALTER TABLE tasks DROP COLUMN old_sha256; DROP INDEX tasks_claimable;"
        "UPDATE tasks SET aged_from = submitted + id - priority * 600000, size = -audio;"
        "CREATE INDEX tasks_claimable ON tasks(class, aged_from, due, size, id) WHERE state = 'queued';"
        "ALTER TABLE run_devices DROP COLUMN windows; ALTER TABLE run_devices DROP COLUMN places;"
        "DROP TABLE written; ALTER TABLE results DROP COLUMN modified_ns; ALTER TABLE results DROP COLUMN kept;"
        "ALTER TABLE results DROP COLUMN known; ALTER TABLE runs DROP COLUMN runner; ALTER TABLE runs DROP COLUMN seen;"
        "ALTER TABLE runs DROP COLUMN status;"
        "INSERT INTO results VALUES(1, 0, '/out/a.txt', '/out/.tmp/a', 'abc', 3);"
        "PRAGMA user_version = 1");
  }
  const auto store = open_store({.url = folder.path()});
  ASSERT_TRUE(store) << store.error().text();
  EXPECT_TRUE((*store)->written(1).value().empty()) << "there is no record of its file";
  std::vector<std::string> order;
  std::optional<Lease> lease;
  while (auto next = (*store)->claim({}).value()) order.push_back((lease = std::move(next))->job.spec.key);
  const std::vector<std::string> expected{"asked", "later", "more urgent", "b", "a"};
  EXPECT_EQ(order, expected) << "asked for at one time, the longer one of a batch goes first";
  ASSERT_TRUE(lease);
  EXPECT_TRUE((*store)->content_known(lease->key, "sha"));
  const auto runs = (*store)->runs(1);
  ASSERT_TRUE(runs) << runs.error().text();
  EXPECT_EQ(runs->at(0).end.devices.at(0).audio, Seconds(30));
  EXPECT_FALSE(runs->at(0).end.devices.at(0).windows) << "they were not counted then";
}

TEST(OpenStore, RefusesNonDatabaseAndNewerSchemaVersion) {
  const TempFolder folder;
  {
    auto database = Database::open(folder / "tutti.sqlite", std::chrono::seconds(1));
    ASSERT_TRUE(database);
    database->script("PRAGMA user_version = 99");
  }
  const auto newer = open_store({.url = folder.path()});
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().fault, Fault::unsupported);
  EXPECT_NE(newer.error().what.find("version 99"), std::string::npos);

  const TempFolder other;
  std::FILE* file = std::fopen((other / "tutti.sqlite").c_str(), "w");
  std::fputs("this is no database, and it is long enough to be looked at as one; it was written by another program",
             file);
  std::fclose(file);
  const auto damaged = open_store({.url = other.path()});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().fault, Fault::corrupt);
}

}  // namespace
}  // namespace tutti
