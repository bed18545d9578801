#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "base/error.h"
#include "base/output_ownership.h"
#include "cli/batch/batch_flags.h"
#include "transcribe/batch/batch_options.h"

namespace tutti {

/// Knows all that a batch reads (recordings, lists, model, devices file, store) and has the report and the pages for
/// review claimed. Fault::usage where an output, the report or a page would be written onto one of these, or two of
/// them onto each other.
Result<OutputOwnership> claim_batch_files(const BatchCommand& command, const std::filesystem::path& model,
                                          const std::filesystem::path& state, std::span<const BatchJob> jobs);

}  // namespace tutti
