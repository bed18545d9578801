#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace tutti {

/// What a change is predicted to gain, of as much work again.
struct PredictedRate {
  std::string change{};    ///< "decode.threads=4", "step.speed=2"; several, separated by spaces, are made together
  double items_per_s = 0;  ///< a run as long measures a rate from `low` to `high` in 19 of 20 cases
  double low = 0;
  double high = 0;
};

/// A run that was recorded, and what limits it. Immutable; thread-safe.
class RunProfile {
 public:
  /// Of a recording that a profiled run wrote. Fault::missing where there is no such file or nothing was measured,
  /// Fault::corrupt where it holds something else.
  static Result<RunProfile> read(const std::filesystem::path& recording);
  RunProfile(RunProfile&&) noexcept;
  RunProfile& operator=(RunProfile&&) noexcept;
  ~RunProfile();

  /// What an item is: "files", "batches".
  const std::string& unit() const;
  double items_per_s() const;
  /// The stage that limits the run. Empty: no stage does by itself, or the replay does not explain the run.
  std::optional<std::string> limit() const;
  /// One sentence: what limits the run, and what one change would gain; or that this is not known.
  std::string finding() const;
  /// The changes that gain 2 % or more, the greatest gain first among those of a kind.
  std::vector<PredictedRate> gains() const;
  /// The rate of as much work again with a change made. Fault::usage where the run has no such stage or setting.
  Result<PredictedRate> predict(const std::string& change) const;
  /// The page that `tutti profile` prints for people, and its one JSON object (docs/profile.md).
  std::string text() const;
  std::string json() const;

 private:
  friend class LoopProfile;
  struct Parts;
  explicit RunProfile(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

/// Times a loop of the caller's own that does one phase after the other, such as drawing a batch and training on it.
/// One thread.
class LoopProfile {
 public:
  /// `unit`: what one turn of the loop does, in the plural.
  explicit LoopProfile(std::string unit = "batches");
  LoopProfile(LoopProfile&&) noexcept;
  LoopProfile& operator=(LoopProfile&&) noexcept;
  ~LoopProfile();

  /// Calls `work`, which is a part of that phase.
  void measure(std::string_view phase, const std::function<void()>& work);
  /// A call of that phase which its caller has timed, by Clock::real().
  void note(std::string_view phase, Clock::Instant start, Clock::Instant end);
  /// Of all that was measured so far; what was no phase is the stage "rest". Fault::missing: nothing was.
  Result<RunProfile> profile() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tutti
