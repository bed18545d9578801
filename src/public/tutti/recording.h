#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// Mono samples of -1 to 1 as the decoder has them, 16 bits each; louder ones are clipped. `name`: what messages call
/// them. Fault::usage: one is not a number.
Result<std::vector<std::int16_t>> pcm_of_samples(std::span<const float> samples, const std::string& name);

/// A recording as a caller has it, for whatever transcribes: samples in memory, or a file of any format that Tutti
/// decodes. It owns a descriptor, of a file in memory or on disk, and nothing else: it is read when its turn comes.
/// Movable; one thread at a time.
class RecordingInput {
 public:
  /// Mono samples of -1 to 1, [samples] float32, at `rate`; louder ones are clipped. They are copied, as 16 bits a
  /// sample: what the decoder makes of any file. `name`: what messages call it. Fault::usage: no sample, a rate below
  /// 1 Hz, or samples of more than 2 GB, as 16 bits. Fault::exhausted: memory ran out.
  static Result<RecordingInput> of_samples(std::span<const float> samples, Hertz rate = kModelRate,
                                           std::string name = "the recording");
  /// The same of 16-bit samples.
  static Result<RecordingInput> of_samples(std::span<const std::int16_t> samples, Hertz rate = kModelRate,
                                           std::string name = "the recording");
  /// The bytes of a file of any format, as a caller has read them. They are copied. Fault::usage: there are none.
  static Result<RecordingInput> of_bytes(std::span<const std::byte> bytes, std::string name = "the recording");
  /// A regular file, opened now: its later removal does no harm. Errors name the path: Fault::missing, Fault::refused,
  /// or Fault::usage where it is a folder or a pipe.
  static Result<RecordingInput> of_file(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  const OwnedFd& file() const { return file_; }
  OwnedFd take_file() && { return std::move(file_); }

 private:
  RecordingInput(OwnedFd file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}

  OwnedFd file_;
  std::string name_;
};

}  // namespace tutti
