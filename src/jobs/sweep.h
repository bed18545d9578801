#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/error.h"
#include "jobs/publish.h"
#include "jobs/store.h"

namespace tutti {

struct SweepReport {
  std::size_t put_in_place = 0;  // jobs whose outputs a killed process had recorded but not renamed
  std::size_t requeued = 0;      // whose recorded outputs are neither staged nor in place
  std::size_t collected = 0;     // staged files of attempts that lost
  struct Stuck {
    JobId job = 0;
    Error why{};
  };
  std::vector<KeptFile> kept{};  // files kept where it put outputs in place
  std::vector<Stuck> stuck{};    // done, with outputs that cannot be put in place: they wait for the next sweep
};

/// Repairs what a killed process left, at start, before anything is submitted; reaps first. Staged files that this
/// store knows nothing of are removed when older than a day.
Result<SweepReport> sweep_outputs(JobStore& store, std::span<const std::filesystem::path> staging_folders,
                                  Existing existing = Existing::keep);

}  // namespace tutti
