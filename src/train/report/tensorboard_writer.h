#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned.h"

namespace tutti {

/// A record of something that goes on: a file that is only added to. One thread.
class GrowingFile {
 public:
  /// Opens `path`, made when missing, behind what is there.
  static Result<GrowingFile> open(const std::filesystem::path& path);

  /// What goes on is worth more than its record: what cannot be written is logged, once.
  void add(std::string_view bytes);

 private:
  GrowingFile(OwnedFd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  OwnedFd file_;
  std::string name_;
  bool complained_ = false;
};

/// One number of a step, as TensorBoard shows it: "train/loss".
struct EventScalar {
  std::string_view tag{};
  double value = 0;
};

/// The bytes of one record of an event file: the scalars of a step at a wall-clock time in seconds. (TFRecord framing
/// with masked CRC-32C around an Event message: tensorflow/core/util/event.proto and lib/io/record_writer.)
std::string event_record(double wall_time, std::int64_t step, std::span<const EventScalar> scalars);

/// The first record of every event file.
std::string event_file_version(double wall_time);

/// A file that TensorBoard reads: FOLDER/events.out.tfevents.SECONDS.tutti. One thread.
class EventFile {
 public:
  static Result<EventFile> create(const std::filesystem::path& folder);
  void add(std::int64_t step, std::span<const EventScalar> scalars);

 private:
  explicit EventFile(GrowingFile file) : file_(std::move(file)) {}
  GrowingFile file_;
};

}  // namespace tutti
