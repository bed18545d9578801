#include "serve/dashboard/dashboard_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

FleetStatus busy_fleet() {
  FleetStatus fleet{.run = "/archive/out", .state_folder = "/secret/state", .jobs = 10, .done = 3, .running = 2};
  fleet.devices = {
      {.id = "cuda:0", .name = "L4", .jobs = 2, .windows = 4, .most_windows = 8, .total_memory = Bytes{1LL << 34}},
      {.id = "cpu"}};
  fleet.in_work = {{.id = "7", .name = "private talk.mp3", .client = "/v1/jobs/f00"},
                   {.id = "request-1", .name = "interview.wav", .client = "ba5 10.0.0.1"}};
  fleet.failures = {{.name = "other.mp3", .error = "/archive/other.mp3: damaged"}};
  return fleet;
}

const Viewer kOperator = ApiClient{.name = "root", .fingerprint = "0", .is_operator = true};
const Viewer kClient = ApiClient{.name = "alice", .fingerprint = "f00"};

}  // namespace

TEST(DashboardJson, StatusHasTheFleetAsTopPrintsIt) {
  const auto json = nlohmann::json::parse(
      status_json({.model = "tiny.en", .state = "/s", .at = 12.5, .counts = JobCounts{.queued = 4, .dead = 1}},
                  busy_fleet(), kOperator));
  EXPECT_EQ(json["model"], "tiny.en");
  EXPECT_EQ(json["jobs"]["queued"], 4);
  EXPECT_EQ(json["jobs"]["failed"], 1);
  EXPECT_EQ(json["fleet"]["in_work"][0]["name"], "private talk.mp3");
  EXPECT_TRUE(nlohmann::json::parse(status_json({}, std::nullopt, kOperator))["fleet"].is_null());
}

TEST(DashboardJson, ClientSeesTheNamesOfItsOwnWork) {
  const auto json = nlohmann::json::parse(status_json({.state = "/secret"}, busy_fleet(), kClient));
  EXPECT_EQ(json["fleet"]["in_work"][0]["name"], "private talk.mp3");
  EXPECT_EQ(json["fleet"]["in_work"][1]["name"], "recording request-1");
  EXPECT_EQ(json["client"]["name"], "alice");
  EXPECT_EQ(json["client"]["operator"], false);
  EXPECT_TRUE(json["state_folder"].is_null());
  Job own{.id = 1}, other{.id = 2};
  own.spec = {.batch = "/v1/jobs/f00", .name = "talk.mp3"};
  other.spec = {.batch = "/v1/jobs/ba5", .name = "interview.wav"};
  const auto queue = queue_json({}, {own, other}, std::nullopt, kClient);
  EXPECT_EQ(queue["jobs"][0]["name"], "talk.mp3");
  EXPECT_EQ(queue["jobs"][0]["may_steer"], true);
  EXPECT_EQ(queue["jobs"][1]["name"], "recording 2");
  EXPECT_EQ(queue["jobs"][1]["may_steer"], false);
}

TEST(DashboardJson, NamesFoldersAndErrorsAreLeftOutWithoutAToken) {
  const std::string text = status_json({.state = "/secret"}, busy_fleet(), std::nullopt);
  for (const char* hidden : {"private", "secret", "archive", "interview", "other.mp3", "damaged"})
    EXPECT_THAT(text, Not(HasSubstr(hidden))) << hidden;
  EXPECT_EQ(nlohmann::json::parse(text)["fleet"]["devices"].size(), 2U);
}

TEST(DashboardJson, QueueNamesWhyAJobWaits) {
  Job waiting{.id = 5, .state = JobState::queued};
  waiting.spec.name = "talk.mp3";
  Job held{.id = 6, .state = JobState::held};
  Job failed{.id = 7, .state = JobState::dead, .error = "damaged"};
  const auto json = queue_json({}, {waiting, held, failed}, busy_fleet(), kOperator);
  EXPECT_THAT(json["jobs"][0]["why_waiting"].get<std::string>(), HasSubstr("2 recordings are in work"));
  EXPECT_THAT(json["jobs"][1]["why_waiting"].get<std::string>(), HasSubstr("held"));
  EXPECT_EQ(json["jobs"][0]["class"], "batch");
  EXPECT_EQ(json["jobs"][2]["state"], "failed");
  EXPECT_EQ(json["jobs"][2]["error"], "damaged");
  EXPECT_EQ(json["next_before"], 7);
  const auto hidden = queue_json({}, {waiting, held, failed}, std::nullopt, std::nullopt);
  EXPECT_EQ(hidden["jobs"][0]["name"], "recording 5");
  EXPECT_EQ(hidden["jobs"][2]["error"], "");
  EXPECT_THAT(hidden["jobs"][0]["why_waiting"].get<std::string>(), HasSubstr("no batch runs"));
}

TEST(DashboardJson, PageOfTheQueueIsReadFromTheAddress) {
  const auto page =
      read_queue_page({{"state", "failed,queued"}, {"before", "40"}, {"name", "talk"}, {"limit", "9999"}}).value();
  EXPECT_THAT(page.filter.states, ElementsAre(JobState::dead, JobState::queued));
  EXPECT_EQ(page.before, 40);
  EXPECT_EQ(page.name, "talk");
  EXPECT_EQ(page.limit, 200U);
  EXPECT_FALSE(read_queue_page({{"state", "lost"}}));
  EXPECT_EQ(read_queue_page({{"limit", "many"}}).value().limit, 50U);
}

TEST(DashboardJson, ResourcesAreTheFieldNotes) {
  const auto json = resources_json(busy_fleet(), {});
  EXPECT_EQ(json["gpus"][0]["id"], "cuda:0");
  EXPECT_EQ(json["gpus"][0]["total_mb"], 16384);
  EXPECT_EQ(json["gpus"][0]["slots_used"], 4);
  EXPECT_EQ(json["gpus"][0]["slots_max"], 8);
  EXPECT_EQ(json["gpus"][0]["jobs"], 2);
  EXPECT_EQ(json["pending_jobs"], 5);
  EXPECT_GT(json["system_ram_mb"].get<std::int64_t>(), 0);
}

TEST(DashboardJson, ResourcesCountWhatWaitsForADrainedDevice) {
  FleetStatus fleet;
  fleet.devices = {{.id = "cpu", .state = "draining"}};
  const auto json = resources_json(fleet, {.queued = 3});
  EXPECT_EQ(json["pending_jobs"], 3) << "the run has none of them yet";
  EXPECT_EQ(json["gpus"][0]["state"], "draining");
}
