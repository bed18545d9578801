// What a store on a PostgreSQL server does beside what every kind of store must (store_kinds.h): tables, lost
// connections, owners on other machines.
#include "jobs/postgres/postgres_store.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "jobs/postgres/schema.h"
#include "jobs/postgres/transactions.h"
#include "store_on_server.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PostgresStoreTest : public testing::Test {
 protected:
  std::unique_ptr<JobStore> open() {
    auto opened = open_on_server({.url = folder_.path(), .clock = &clock_});
    EXPECT_TRUE(opened) << opened.error().text();
    return std::move(*opened);
  }
  static JobSpec spec(const std::string& name) {
    return {.key = "/out/" + name, .batch = "/out", .input = "/in/" + name, .identity = {100, 7}, .options = "tiny"};
  }
  static JobId add(JobStore& store, const JobSpec& job) {
    return store.submit(*store.begin_run({}), {&job, 1})->at(0).id;
  }
  static Job job(JobStore& store, JobId id) { return store.jobs({.ids = {id}}, 0, 1)->at(0); }
  std::string schema() const { return TestSchemas::shared().schema_of(folder_.path()); }
  std::string psql(const std::string& sql) const { return PostgresServer::shared().psql(sql, schema()); }

  TempFolder folder_;
  FakeStoreClock clock_;
};

TEST_F(PostgresStoreTest, AStoreOfANewerVersionIsRefused) {
  open();
  psql("UPDATE tutti_meta SET value = value + 1 WHERE name = 'version'");
  const auto refused = open_on_server({.url = folder_.path(), .clock = &clock_});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::unsupported);
  EXPECT_THAT(refused.error().text(),
              HasSubstr("has version " + std::to_string(postgres::newest_version() + 1) +
                        ", this program knows up to " + std::to_string(postgres::newest_version())));
}

TEST_F(PostgresStoreTest, ProcessesThatBeginTogetherMakeTheTablesOnce) {
  PostgresServer::shared().psql("CREATE SCHEMA fresh");
  const auto url = StoreUrl::parse(PostgresServer::shared().url("fresh"));
  EXPECT_EQ(open_store_if_there(*url)->get(), nullptr) << "who only looks makes none";
  std::atomic<int> opened = 0;
  {
    std::vector<std::jthread> processes;
    for (int i = 0; i < 6; ++i)
      processes.emplace_back([&] {
        const auto store = open_store({.url = *url});
        EXPECT_TRUE(store) << store.error().text();
        if (store) ++opened;
      });
  }
  EXPECT_EQ(opened, 6);
  EXPECT_NE(open_store_if_there(*url)->get(), nullptr);
}

TEST_F(PostgresStoreTest, NamesThatAreNoUtf8ComeBackAsTheyWere) {
  const auto store = open();
  for (const std::string name : {"caf\xe9.wav", "\xf4\x8f\xbf\xa9", "nul\0byte", "\xed\xa0\x80", "Zürich \"'\\,{}"}) {
    const JobSpec sent = spec(name);
    const JobId id = add(*store, sent);
    EXPECT_EQ(job(*store, id).spec.key, sent.key);
    EXPECT_EQ(job(*store, id).spec.input, sent.input);
    EXPECT_EQ((*store->find(sent.key))->id, id);
  }
}

TEST_F(PostgresStoreTest, EndedJobsMoveFromTheHotTableToTheirMonth) {
  const auto store = open();
  add(*store, spec("a"));
  add(*store, spec("b"));
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_jobs_hot"), "2\n");
  ASSERT_TRUE(*store->complete((*store->claim({}))->key, {}, {}));
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_jobs_hot"), "1\n");
  EXPECT_EQ(psql("SELECT state FROM tutti_jobs_202311"), "done\n") << "the test's clock begins in November 2023";
  clock_.advance(std::chrono::days(70));  // beyond the months that there are tables for
  ASSERT_TRUE(*store->complete((*store->claim({}))->key, {}, {}));
  EXPECT_EQ(psql("SELECT state FROM tutti_jobs_202401"), "done\n");
  EXPECT_EQ(*store->redo({}, JobAdmin::Redo::all), 2U);
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_jobs_hot"), "2\n");
}

TEST_F(PostgresStoreTest, AKilledProcessLosesItsJobWithItsLeaseWithoutAStrike) {
  const auto store = open();
  auto killed = open();
  const JobId id = add(*store, spec("a"));
  const Lease lease = **killed->claim({});
  clock_.advance(10s);
  EXPECT_EQ(*store->reap(), 0U);
  clock_.advance(kLeaseLength);
  EXPECT_EQ(*store->reap(), 1U) << "it has shown no sign since";
  EXPECT_EQ(store->attempts(id)->back().end, AttemptEnd::orphaned);
  EXPECT_EQ(job(*store, id).strikes, 0);
  EXPECT_FALSE(*killed->complete(lease.key, {}, {})) << "it was only stopped, and its token is void";
}

TEST_F(PostgresStoreTest, AProcessThatHangsOnOneJobLosesItWithAStrike) {
  const auto store = open();
  const auto hung = open();
  const JobId id = add(*store, spec("a"));
  ASSERT_TRUE(*hung->claim({}));
  for (int i = 0; i < 4; ++i) {
    clock_.advance(kRenewEvery);
    ASSERT_TRUE(hung->renew({}));  // its other jobs
  }
  EXPECT_EQ(*store->reap(), 1U);
  EXPECT_EQ(store->attempts(id)->back().end, AttemptEnd::expired);
  EXPECT_EQ(job(*store, id).strikes, 1);
}

TEST_F(PostgresStoreTest, AServersClockThatIsSetBackLengthensNoLeaseAndNoPause) {
  const auto gone = open(), store = open();
  const JobId held = add(*gone, spec("a")), failed = add(*store, spec("b"));
  ASSERT_TRUE(*gone->claim({.jobs = {held}, .length = 60s}));
  const auto lease = *store->claim({.jobs = {failed}, .length = 60s});
  ASSERT_TRUE(store->fail(lease->key, {.kind = FailureClass::transient, .reason = "no network"}));
  ASSERT_TRUE(store->reap());
  psql("UPDATE clock SET ms = ms - 3600000");
  EXPECT_EQ(*store->reap(), 0U);
  clock_.advance(59s);
  EXPECT_TRUE(*store->claim({.jobs = {failed}, .length = 60s}));
  EXPECT_EQ(*store->reap(), 0U);
  clock_.advance(3s);
  EXPECT_EQ(*store->reap(), 1U);
}

// The server gives the transaction number of a change that it lost in a crash to the next one, which commits.
TEST_F(PostgresStoreTest, AChangeThatACrashUndidIsMadeAgain) {
  PostgresServer server;
  ASSERT_TRUE(open_store({.url = *StoreUrl::parse(server.url("public"))}));
  postgres::Transactions transactions(server.url("public"), "test", *postgres::Connection::open(server.url("public")),
                                      clock_);
  const std::string insert = "INSERT INTO tutti_events(at, run, device, kind, text) VALUES(1, 1, '', 'test', ";
  int calls = 0;
  const auto changed = transactions.change([&](postgres::Transaction& transaction) {
    transaction.run(insert + "'mine')");
    if (++calls > 1) return;
    server.stop_at_once();
    server.start();
    for (int i = 0; i < 3; ++i) server.psql(insert + "'of another')");
  });
  ASSERT_TRUE(changed) << changed.error().text();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(server.psql("SELECT count(*) FROM tutti_events WHERE text = 'mine'"), "1\n");
}

TEST_F(PostgresStoreTest, CutConnectionsLoseNoClaimAndNoResult) {
  const auto store = open();
  constexpr int kJobs = 60;
  std::vector<JobSpec> specs;
  for (int i = 0; i < kJobs; ++i) specs.push_back(spec(std::to_string(i)));
  ASSERT_TRUE(store->submit(*store->begin_run({}), specs));
  std::atomic<bool> is_over = false;
  std::atomic<int> failed = 0, done = 0, cuts = 0;
  std::jthread cutting([&] {
    while (!is_over)
      cuts += std::stoi(PostgresServer::shared().psql(
          "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
          "WHERE application_name = 'tutti' AND pid <> pg_backend_pid() AND query NOT LIKE '%.clock%'"));
  });
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < 3; ++i)
      workers.emplace_back([&] {
        for (;;) {
          const auto lease = store->claim({});
          if (!lease) ++failed;
          if (lease && !*lease) return;
          if (!lease) continue;
          const auto completed = store->complete((*lease)->key, {}, {});
          if (!completed || !*completed)
            ++failed;
          else
            ++done;
        }
      });
  }
  is_over = true;
  cutting.join();
  EXPECT_GT(cuts, 1);
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(done, kJobs);
  EXPECT_EQ(store->counts({})->done, kJobs);
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_attempts"), std::to_string(kJobs) + "\n") << "a claim each, and no more";
}

TEST_F(PostgresStoreTest, ABatchOfClaimsIsOneTransaction) {
  const auto store = open();
  std::vector<JobSpec> specs;
  for (int i = 0; i < 60; ++i) specs.push_back(spec(std::to_string(i)));
  ASSERT_TRUE(store->submit(*store->begin_run({}), specs));
  ASSERT_EQ(store->claim({}, 50)->size(), 50U);
  EXPECT_EQ(psql("SELECT count(*), count(DISTINCT xmin::text) FROM tutti_attempts"), "50|1\n");
}

TEST_F(PostgresStoreTest, AClaimPassesOverRowsThatAnotherTransactionHolds) {
  const auto store = open();
  const JobId first = add(*store, spec("a")), second = add(*store, spec("b"));
  auto other = postgres::Connection::open(PostgresServer::shared().url(schema()));
  ASSERT_TRUE(other);
  ASSERT_TRUE(other->script("BEGIN; SELECT 1 FROM tutti_jobs_hot WHERE id = " + std::to_string(first) + " FOR UPDATE"));
  const auto leases = *store->claim({.jobs = {first, second}}, 2);
  ASSERT_EQ(leases.size(), 1U);
  EXPECT_EQ(leases[0].key.job, second);
  ASSERT_TRUE(other->script("COMMIT"));
  EXPECT_EQ(store->claim({}, 2)->size(), 1U);
}

TEST_F(PostgresStoreTest, ClaimsWaitForNoDiskAndResultsDo) {
  open();
  const std::string url = PostgresServer::shared().url(schema());
  postgres::Transactions transactions(url, "the store", *postgres::Connection::open(url), clock_);
  const auto setting = [](postgres::Transaction& transaction) {
    std::string found;
    transaction.rows("SELECT current_setting('synchronous_commit')",
                     [&](const postgres::Row& row) { found = row.text(0); });
    return found;
  };
  EXPECT_EQ(*transactions.change_soon(setting), "off");
  EXPECT_EQ(*transactions.change(setting), "on") << "on the connection that claimed";
}

TEST_F(PostgresStoreTest, AProcessThatStopsWithinATransactionHoldsNoRowsForLong) {
  open();
  const std::string url = PostgresServer::shared().url(schema());
  auto connection = postgres::Connection::open(url);
  ASSERT_TRUE(connection) << connection.error().text();
  postgres::Transactions transactions(url, "the store", std::move(*connection), clock_);
  std::string limit;
  const auto done = transactions.change([&](postgres::Transaction& transaction) {
    transaction.rows("SELECT current_setting('idle_in_transaction_session_timeout')",
                     [&](const postgres::Row& row) { limit = row.text(0); });
  });
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(limit, "10s");
}

TEST_F(PostgresStoreTest, AServerThatRestartsCostsNoLease) {
  PostgresServer& server = PostgresServer::shared();
  const auto store = open();
  const JobId id = add(*store, spec("a"));
  const Lease lease = **store->claim({});
  server.stop_at_once();
  Result<bool> completed = false;
  std::jthread completing([&] { completed = store->complete(lease.key, {}, {}); });
  std::this_thread::sleep_for(200ms);
  server.start();
  completing.join();
  ASSERT_TRUE(completed) << completed.error().text();
  EXPECT_TRUE(*completed);
  EXPECT_EQ(job(*store, id).state, JobState::done);
}

TEST(PostgresOpening, ErrorsNameTheServerAndKeepThePassword) {
  const TempFolder nowhere;
  const auto failed =
      open_store({.url = *StoreUrl::parse("postgres://tutti:s3cret@/jobs?host=" + nowhere.path().string())});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().fault, Fault::unavailable);
  EXPECT_THAT(failed.error().text(), HasSubstr("postgres://tutti:***@/jobs"));
  EXPECT_THAT(failed.error().text(), Not(HasSubstr("s3cret")));
  for (const char* address : {"postgres://tutti:100%s3cret@localhost/d", "postgres://tutti:s3cret@[::1]x/d",
                              "postgres://tutti:s3/cret@[::1/d"}) {
    const auto unreadable = open_store({.url = *StoreUrl::parse(address)});
    ASSERT_FALSE(unreadable) << address;
    EXPECT_EQ(unreadable.error().fault, Fault::usage) << unreadable.error().text();
    EXPECT_THAT(unreadable.error().text(), AllOf(Not(HasSubstr("s3cret")), Not(HasSubstr("cret@"))));
  }
  const auto absent = open_store({.url = *StoreUrl::parse(PostgresServer::shared().url("public", "absent"))});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().fault, Fault::missing) << absent.error().text();
  EXPECT_THAT(absent.error().text(), HasSubstr("createdb"));
}

}  // namespace
}  // namespace tutti
