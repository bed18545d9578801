// Several processes, as on several machines, on one store on a PostgreSQL server.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <thread>

#include "base/strings.h"
#include "support/postgres_server.h"
#include "system/batch_runs.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class SharedStoreTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    PostgresServer::shared().psql("CREATE SCHEMA " + schema_);
  }
  std::string url() const { return PostgresServer::shared().url(schema_); }
  std::string psql(const std::string& sql) const { return PostgresServer::shared().psql(sql, schema_); }

  /// What a query on the store answers; nothing before its tables are there.
  std::string query(const std::string& sql) const {
    return psql("SELECT to_regclass('tutti_jobs') IS NOT NULL") == "t\n" ? psql(sql) : "";
  }
  void await(const std::string& sql, const std::string& answer) const {
    while (query(sql) != answer) std::this_thread::sleep_for(20ms);
  }

  /// The words of a batch on a machine of its own, with the store that all share.
  std::vector<std::string> machine(const std::string& name, const std::string& devices) const {
    auto all = words(devices, {"--store", url()});
    *(std::ranges::find(all, "--state") + 1) = folder_ / name;
    *(std::ranges::find(all, "--report") + 1) = folder_ / (name + ".json");
    return all;
  }
  std::vector<std::string> worker(const std::string& devices) const {
    return {kTutti,           "worker", "--store",      url(),    "--state", (folder_ / "worker").string(),
            "--devices",      devices,  "--vad-method", "energy", "-f",      "json",
            "--idle-timeout", "0"};
  }
  json report_of(const std::string& name) const { return json::parse(read_file(folder_ / (name + ".json")).value()); }
  ProgramEnd tutti(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), kTutti);
    return run_program(arguments, settings());
  }

  const std::string schema_ = ascii_lower(testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(SharedStoreTest, TwoBatchesAtOnceDoEachRecordingOnce) {
  RunningProgram first(machine("first", "emulated:20x"), settings());
  RunningProgram second(machine("second", "emulated:20x"), settings());
  const ProgramEnd one = first.wait(), other = second.wait();
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_EQ(outputs().size(), 10U);
  EXPECT_EQ(psql("SELECT count(*), count(DISTINCT job) FROM tutti_attempts WHERE ending = 'done'"), "10|10\n");
  EXPECT_EQ(report_of("first")["done_in_this_run"].get<int>() + report_of("second")["done_in_this_run"].get<int>(), 10);
  EXPECT_EQ(report_of("first")["successful"], 10);
  const json history = json::parse(tutti({"history", "--json", "--store", url()}).out);
  EXPECT_EQ(history["runs"].size(), 2U);
}

TEST_F(SharedStoreTest, AWorkerHelpsABatchAndEndsWhenNothingIsLeft) {
  auto command = machine("first", "emulated:4x");
  command.insert(command.end(), {"-t", "1"});
  RunningProgram batch(command, settings());
  await("SELECT count(*) FROM tutti_jobs", "10\n");
  const ProgramEnd helped = run_program(worker("emulated:200x"), settings());
  EXPECT_EQ(helped.exit_code, 0) << helped.err;
  EXPECT_THAT(helped.err, HasSubstr("Total jobs processed: "));
  const ProgramEnd done = batch.wait();
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(outputs().size(), 10U);
  EXPECT_LT(report_of("first")["done_in_this_run"], 10) << helped.err;
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_attempts WHERE ending = 'done'"), "10\n");
}

TEST_F(SharedStoreTest, AWorkerLeavesJobsOfOtherOptionsAndReportsThem) {
  auto command = machine("first", "emulated:0.01x");
  command.insert(command.end(), {"-t", "1"});  // it begins few, so that others are left
  RunningProgram batch(command, settings());
  await("SELECT count(*) FROM tutti_jobs", "10\n");
  auto other = worker("emulated:200x");
  *std::ranges::find(other, "json") = "txt";
  const ProgramEnd end = run_program(other, settings());
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("They are left to those who requested them"));
  EXPECT_EQ(psql("SELECT count(DISTINCT owner) FROM tutti_attempts"), "1\n");
}

TEST_F(SharedStoreTest, TopShowsTheWholeFleetOfTheStore) {
  RunningProgram batch(machine("first", "emulated:2x"), settings());
  await("SELECT count(*) FROM tutti_jobs", "10\n");
  json seen = json::object();
  while (seen.value("running", 0) == 0) {
    const ProgramEnd top = tutti({"top", "--json", "--store", url()});
    ASSERT_EQ(top.exit_code, 0) << top.err;
    seen = json::parse(top.out).value("run", json::object());
  }
  EXPECT_EQ(seen["tasks"], 10) << seen.dump();
  ASSERT_FALSE(seen["devices"].empty()) << seen.dump();
  EXPECT_THAT(seen["devices"][0]["id"].get<std::string>(), HasSubstr("." + std::to_string(batch.pid())));
}

TEST_F(SharedStoreTest, TheScalersQueryOfTheExamplesCountsOpenJobs) {
  const std::string example = read_file(TUTTI_SOURCE_DIR "/examples/runners/keda-postgres.yaml").value();
  std::smatch query;
  ASSERT_TRUE(std::regex_search(example, query, std::regex("query: \"([^\"]+)\"")));
  RunningProgram batch(machine("first", "emulated:0.2x"), settings());  // a quarter of a minute for each recording
  await("SELECT count(*) FROM tutti_jobs", "10\n");
  EXPECT_EQ(psql(query[1]), "10\n");
  psql("UPDATE tutti_jobs SET state = 'held' WHERE id = (SELECT max(id) FROM tutti_jobs)");
  EXPECT_EQ(psql(query[1]), "9\n");
}

TEST_F(SharedStoreTest, APasswordIsNeitherPrintedNorKept) {
  const std::string address = "postgres://tutti:s3cret@" + url().substr(url().find('@') + 1);
  auto command = machine("first", "emulated:200x");
  std::ranges::replace(command, url(), address);
  const ProgramEnd end = run_program(command, settings());
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.out + end.err, Not(HasSubstr("s3cret")));
  const ProgramEnd history = tutti({"history", "--json", "--store", address});
  EXPECT_THAT(history.out, HasSubstr("postgres://tutti:***@"));
  EXPECT_THAT(history.out, Not(HasSubstr("s3cret")));
}

TEST_F(SharedStoreTest, StateOnAServerIsRefusedAndPointsToStore) {
  const ProgramEnd end = tutti({"history", "--state", "postgres://tutti:s3cret@db/jobs"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.err, HasSubstr("--store"));
  EXPECT_THAT(end.err, Not(HasSubstr("s3cret")));
}

/// As on a laptop that sleeps.
TEST_F(SharedStoreTest, AProcessStoppedBeyondItsLeasePublishesNothing) {
  auto slow = machine("stopped", "emulated:0.2x");  // a quarter of a minute and more for each recording
  slow.insert(slow.end(), {"--lease", "3"});
  RunningProgram stopped(slow, settings());
  await("SELECT count(*) > 0 FROM tutti_jobs WHERE state = 'running'", "t\n");
  ASSERT_EQ(::kill(stopped.pid(), SIGSTOP), 0);
  const ProgramEnd other = run_program(machine("other", "emulated:200x"), settings());  // waits for the leases
  EXPECT_EQ(other.exit_code, 0) << other.err;
  const auto published = outputs();
  EXPECT_EQ(published.size(), 10U);
  ASSERT_EQ(::kill(stopped.pid(), SIGCONT), 0);
  const ProgramEnd end = stopped.wait();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(report_of("stopped")["done_in_this_run"], 0);
  EXPECT_EQ(outputs(), published);
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_attempts WHERE ending = 'done'"), "10\n");
  EXPECT_EQ(psql("SELECT count(*) FROM tutti_attempts WHERE ending = 'running'"), "0\n");
}

}  // namespace
}  // namespace tutti
