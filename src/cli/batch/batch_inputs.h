#pragma once

#include <vector>

#include "base/error.h"
#include "cli/batch/batch_flags.h"
#include "transcribe/batch/listed_jobs.h"

namespace tutti {

/// Where the outputs of a batch go, as their paths begin: absolute, or s3://BUCKET/FOLDER.
std::filesystem::path output_folder(const BatchCommand& command);

/// The jobs of a command line, as list_jobs has them.
Result<ListedJobs> batch_jobs(const BatchCommand& command, const std::string& fingerprint);

/// Changes with whatever changes a transcript: model, VAD, decoding, formats. `is_shared`: of a store that machines
/// share, where the same model may be at another path: what counts is what is in its files.
Result<std::string> fingerprint_of(BatchCommand& command, const std::filesystem::path& model, bool emulated,
                                   bool is_shared);

}  // namespace tutti
