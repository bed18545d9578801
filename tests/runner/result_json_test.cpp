#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/json.h"
#include "runner/s3_sink.h"

using namespace tutti;

namespace {

JobMessage job() {
  return {.job_id = "j1",
          .s3_input_path = "s3://talks/a.mp3",
          .s3_output_path = "s3://talks/a.json",
          .estimated_duration_seconds = 60,
          .priority = 2,
          .retry_count = 1};
}

}  // namespace

TEST(ResultJson, FieldsAreTheNotesInItsOrder) {
  const Transcript transcript{.text = " One",
                              .segments = {{.start = 0, .end = 1, .text = " One", .words = {{" One", 0.5, 1, 0.75}}}},
                              .language = "en"};
  const auto json = nlohmann::ordered_json::parse(result_json(job(),
                                                              {.worker_id = "w",
                                                               .model = "large-v3",
                                                               .batch_size = 64,
                                                               .took = Seconds(2),
                                                               .audio = Seconds(61),
                                                               .input_etag = "\"e\""},
                                                              transcript));
  EXPECT_EQ(
      json.dump(),
      R"({"schema_version":1,"job_id":"j1","s3_input_path":"s3://talks/a.mp3","s3_output_path":"s3://talks/a.json",)"
      R"("estimated_duration_seconds":60.0,"actual_transcription_time_seconds":2.0,"priority":2,"retry_count":1,)"
      R"("processed_at":"1970-01-01T00:00:00Z","worker_id":"w","transcript":{"segments":[{"start":0.0,"end":1.0,)"
      R"("text":" One","words":[{"word":" One","start":0.5,"end":1.0,"score":0.75}]}],"language":"en","video_id":"j1",)"
      R"("transcribed_at":"1970-01-01T00:00:00Z","transcriber":"tutti","model":"large-v3","batch_size":64},)"
      R"("audio_duration_seconds":61.0,"input_etag":"\"e\""})");
}

TEST(ResultJson, WordWithoutTimeKeepsItsText) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  Transcript transcript;
  transcript.segments.push_back({.text = " 42", .words = {{" 42", none, none, 0}}});
  const auto json = nlohmann::json::parse(result_json(job(), {}, transcript));
  EXPECT_EQ(json["transcript"]["segments"][0]["words"], (nlohmann::json{{{"word", " 42"}}}));
}
