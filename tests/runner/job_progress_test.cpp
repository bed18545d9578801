#include "runner/job_progress.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

using namespace tutti;

TEST(JobProgress, StatesHaveTheNamesAndSharesOfTheNote) {
  const std::vector<std::pair<JobPhase, std::pair<std::string, double>>> expected{
      {JobPhase::started, {"STARTED", 0}},
      {JobPhase::downloading, {"DOWNLOADING", 5}},
      {JobPhase::downloaded, {"DOWNLOADED", 10}},
      {JobPhase::preparing, {"PREPARING", 15}},
      {JobPhase::model_loading, {"MODEL_LOADING", 20}},
      {JobPhase::model_ready, {"MODEL_READY", 25}},
      {JobPhase::transcribing, {"TRANSCRIBING", 30}},
      {JobPhase::saving, {"SAVING", 95}},
      {JobPhase::uploading, {"UPLOADING", 98}},
      {JobPhase::completed, {"COMPLETED", 100}},
      {JobPhase::error, {"ERROR", 0}}};
  for (const auto& [phase, facts] : expected) {
    EXPECT_EQ(name_of(phase), facts.first);
    EXPECT_EQ(percentage_of(phase, 0), facts.second) << facts.first;
  }
}

TEST(JobProgress, TranscribingGoesFrom30To90ByAudioDone) {
  EXPECT_EQ(percentage_of(JobPhase::transcribing, 0.5), 60);
  EXPECT_EQ(percentage_of(JobPhase::transcribing, 1), 90);
  EXPECT_EQ(percentage_of(JobPhase::transcribing, 7), 90);
}

TEST(JobProgress, JsonHasTheFieldsOfTheNote) {
  const RemoteProgress progress{.job_id = "j1",
                                .worker_id = "worker-1",
                                .phase = JobPhase::transcribing,
                                .message = "Transcribing",
                                .share = 0.25,
                                .elapsed = Seconds(1.5)};
  const auto json = nlohmann::json::parse(progress_json(progress, std::chrono::system_clock::from_time_t(0)));
  EXPECT_EQ(json, (nlohmann::json{{"schema_version", 1},
                                  {"job_id", "j1"},
                                  {"status", "TRANSCRIBING"},
                                  {"message", "Transcribing"},
                                  {"percentage", 45},
                                  {"elapsed_seconds", 1.5},
                                  {"timestamp", "1970-01-01T00:00:00Z"},
                                  {"last_update", "1970-01-01T00:00:00Z"},
                                  {"worker_id", "worker-1"}}));
  EXPECT_EQ(progress_key("j1"), "progress/j1/status.json");
}
