#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "jobs/job.h"
#include "transcribe/batch/batch_options.h"
#include "transcribe/inputs/inputs.h"
#include "transcribe/output_plan.h"

namespace tutti {

/// Size and time of change of a file; all 0 where it cannot be looked at.
InputIdentity file_identity(const std::filesystem::path& path);

/// What the inputs of a batch come to.
struct ListedJobs {
  std::vector<BatchJob> jobs{};
  InputTally inputs{};  ///< what was taken and left out for them; the log has it, too
};

/// The jobs of a batch: its inputs with folders opened, their outputs planned. `fingerprint` covers everything that
/// changes a transcript.
///
/// Errors name the input: Fault::usage where two would become one output, Fault::missing where there is no recording,
/// and those of read_inputs.
Result<ListedJobs> list_jobs(const std::vector<std::string>& inputs, const InputOptions& wanted,
                             const OutputOptions& outputs, const std::string& fingerprint);

}  // namespace tutti
