#pragma once

#include <optional>
#include <string>

#include "advise/diagnosis.h"
#include "advise/pipeline_run.h"

namespace tutti {

/// What a run of a described pipeline came to, or its replay where none was made. Plain data.
struct DescribedRun {
  PipelineModel pipeline{};  ///< as it ran
  RunFigures figures{};
  double model_error = 0;
  std::optional<Diagnosis> diagnosis{};  ///< none: the model does not explain the run
};

/// The object of `tutti profile --pipeline F --json`, on one line.
std::string json_of(const DescribedRun& run);

/// The same for people: the stages as a table, the finding, the changes that gain as flags to copy. At most 120 columns
/// but for long names; ends with a line end.
std::string text_of(const DescribedRun& run);

}  // namespace tutti
