#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/owned.h"
#include "base/process/child.h"
#include "base/units.h"

namespace tutti {

/// Where live audio comes from: standard input, a pipe or a file, a microphone (arecord), an address (ffmpeg).
class LiveSource {
 public:
  /// `source`: -, a path, mic or mic:DEVICE, or http(s)://...; `rate`: of bare samples; none: a WAV. Must be called on
  /// a thread that outlives it. Fault::usage, Fault::missing.
  static Result<LiveSource> open(const std::string& source, std::optional<Hertz> rate);

  /// "standard input", "the microphone default", or as it was given.
  const std::string& name() const { return name_; }
  /// Rate of the bare 16-bit samples that it gives; none: it gives a WAV.
  std::optional<Hertz> rate() const { return rate_; }

  /// Waits for bytes and hands them to `take`, until the end (true), or until `stop`, a descriptor, is readable
  /// (false). `on_stall` is called once when nothing has come for `stall`, and again after bytes have. Errors of
  /// reading and of `take`.
  Result<bool> read(int stop, Seconds stall, const std::function<void()>& on_stall,
                    const std::function<Result<void>(std::span<const std::byte>)>& take);
  /// Why it ended, where a program gave it: an error where that failed.
  Result<void> close();

 private:
  std::string name_{};
  std::optional<Hertz> rate_{};
  OwnedFd file_{};
  std::unique_ptr<Child> child_{};
};

}  // namespace tutti
