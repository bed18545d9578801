#pragma once

#include <optional>
#include <string>

#include "advise/diagnosis.h"
#include "advise/pipeline_run.h"
#include "advise/timeline.h"
#include "profile/experiment.h"
#include "profile/profile_page.h"

namespace tutti {

/// What a run of a described pipeline came to, or its replay where none was made. Plain data.
struct DescribedRun {
  PipelineModel pipeline{};              ///< as it ran
  RunFigures figures{};                  ///< measured; without a run those of a long replay
  double model_error = 0;                ///< a share; 0 where nothing was run
  std::optional<Diagnosis> diagnosis{};  ///< none: the model does not explain the run
  RunTimeline timeline{};                ///< empty where nothing was run
  Experiments experiments{};             ///< without stages where none were made
};

/// The object of `tutti profile --pipeline F --json`, on one line without its end.
///
/// Its keys: items_per_s, limit (stage, resource, share, close), model_error, explained, stages (name, busy, starved,
/// blocked, core_wait, mean_ms, p95_ms), fixes (change, predicted_items_per_s, low, high) and together (changes instead
/// of change). Shares are 0 to 1. Where the model does not explain the run, limit is null, and fixes and together are
/// empty. With experiments the key `experiments` has what experiments_json returns.
std::string json_of(const DescribedRun& run);

/// The same for people: the stages as a table, the finding, the changes that gain as flags to copy. At most 120 columns
/// but for long names; ends with a line end. Where the model does not explain the run, it names the error and predicts
/// nothing.
std::string text_of(const DescribedRun& run);

/// The same as a page (profile_page.h).
ProfilePage page_of(const DescribedRun& run, const std::string& title);

}  // namespace tutti
