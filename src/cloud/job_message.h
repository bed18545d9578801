#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// A job as it is in an SQS queue: the message of field note 001, field by field, and the version of this schema.
struct JobMessage {
  std::string job_id{};          // a UUID, version 4
  std::string s3_input_path{};   // "s3://bucket/audio/file.mp3"
  std::string s3_output_path{};  // "s3://bucket/transcripts/file.json"
  double estimated_duration_seconds = 300;
  int priority = 1;            // 1, the highest, to 5
  int retry_count = 0;         // attempts that failed before
  std::string submitted_at{};  // "2026-11-28T18:00:00Z"
};

inline constexpr int kJobMessageVersion = 1;

/// The message's text, one line of JSON.
std::string message_json(const JobMessage& message);

/// Reads a message of this or an earlier version, of `tutti send` or of the note's own senders, whose optional fields
/// may be missing. Fault::usage where it is no JSON object, where job_id, s3_input_path or s3_output_path is missing,
/// and what check_message finds.
Result<JobMessage> read_message(const std::string& body);

/// Fault::usage names the field, what was expected and what was found.
Result<void> check_message(const JobMessage& message);

/// A random UUID, version 4 (RFC 9562).
std::string random_uuid();

}  // namespace tutti
