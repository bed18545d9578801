#include "cloud/job_message.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

std::string message_with(const std::string& more) {
  return R"({"job_id":"j","s3_input_path":"s3://talks/a.mp3","s3_output_path":"s3://talks/a.json")" + more + "}";
}

}  // namespace

TEST(JobMessage, WhatIsWrittenIsRead) {
  const JobMessage message{.job_id = random_uuid(),
                           .s3_input_path = "s3://talks/a b.mp3",
                           .s3_output_path = "s3://talks/a.json",
                           .estimated_duration_seconds = 12.5,
                           .priority = 4,
                           .retry_count = 2,
                           .submitted_at = "2025-07-07T10:15:23.5"};
  const auto read = read_message(message_json(message));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(message_json(*read), message_json(message));
}

TEST(JobMessage, NoteSendersFieldsMayBeMissing) {
  const auto read = read_message(message_with(R"(,"unknown":[1])"));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->estimated_duration_seconds, 300);
  EXPECT_EQ(read->priority, 1);
  EXPECT_EQ(read->retry_count, 0);
}

TEST(JobMessage, WhatNoWorkerCouldDoIsNamed) {
  const std::vector<std::pair<std::string, std::string>> bad{
      {"", "no JSON object"},
      {"[1]", "no JSON object"},
      {"{}", "the message has no job_id"},
      {R"({"job_id":"j","s3_input_path":"","s3_output_path":"s3://b/k"})", "the message has no s3_input_path"},
      {message_with(R"(,"priority":"1")"), "priority: expected a number"},
      {message_with(R"(,"priority":6)"), "priority: expected 1 (the highest) to 5, found 6"},
      {message_with(R"(,"estimated_duration_seconds":0)"), "estimated_duration_seconds: expected more than 0"},
      {message_with(R"(,"schema_version":2)"), "schema_version: expected 1, found 2"},
      {R"({"job_id":"a/b","s3_input_path":"s3://talks/a","s3_output_path":"s3://talks/b"})", "job_id: expected"},
      {R"({"job_id":"j","s3_input_path":"s3://talks/x/../a","s3_output_path":"s3://talks/b"})", "'..' in the key"}};
  for (const auto& [body, words] : bad) {
    const auto read = read_message(body);
    ASSERT_FALSE(read) << body;
    EXPECT_EQ(read.error().fault, Fault::usage) << body;
    EXPECT_NE(read.error().text().find(words), std::string::npos) << read.error().text();
  }
}
