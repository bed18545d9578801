#pragma once

#include <vector>

#include "base/error.h"
#include "cli/batch/batch_flags.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {

/// Where the outputs of a batch go, as their paths begin: absolute, or s3://BUCKET/FOLDER.
std::filesystem::path output_folder(const BatchCommand& command);

/// The jobs of a command line: its inputs with folders opened, their outputs planned. `fingerprint` covers everything
/// that changes a transcript. `tally`, where one is given: what was taken and left out. Errors name the input.
Result<std::vector<BatchJob>> batch_jobs(const BatchCommand& command, const std::string& fingerprint,
                                         InputTally* tally = nullptr);

/// Changes with whatever changes a transcript: model, VAD, decoding, formats. `is_shared`: of a store that machines
/// share, where the same model may be at another path: what counts is what is in its files.
Result<std::string> fingerprint_of(BatchCommand& command, const std::filesystem::path& model, bool emulated,
                                   bool is_shared);

}  // namespace tutti
