#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace tutti {

/// A run as a comparison sees it: what `tutti profile --json` printed of it.
struct ComparedRun {
  std::string name{};  ///< the file's
  std::string unit{"items"};
  double rate = 0;   ///< items a second over the whole run
  double error = 0;  ///< standard error of the rate, by that of its intervals; 0: not known
  /// Utilisation of the device's stage over time, 0 to 1; on no device: of the stage that limits it, else the busiest.
  struct Utilisation {
    std::string stage{};
    double mean = 0, least = 0, most = 0, variance = 0;
    bool is_bursty = false;
  };
  std::optional<Utilisation> utilisation{};
};

/// Reads what `tutti profile --json` printed; the last line of the file that is a JSON object, for a training's own
/// lines may be before it. Fault::corrupt where there is none, or it is none of a profile.
Result<ComparedRun> read_profile(const std::filesystem::path& file);

/// Before and after, as people read them: rate and utilisation (mean, least, most, variance, bursty) of both, and one
/// sentence on how much faster the second is, with what 95 of 100 such pairs would show by the unevenness within each
/// run, and kOtherRun beside that; or that no difference can be certain. Pure.
std::string comparison_text(const ComparedRun& before, const ComparedRun& after);

/// The same as one JSON object, without a line end: before, after, change (a share), low, high, is_certain.
std::string comparison_json(const ComparedRun& before, const ComparedRun& after);

}  // namespace tutti
