#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "transcript/writers.h"

namespace tutti {

/// How outputs are named after inputs.
enum class NameBy {
  stem,  // talks/monday.mp3 -> DIR/monday.srt, as openai-whisper does
  path,  // talks/monday.mp3 -> DIR/talks/monday.mp3.srt, below the inputs' common folder; never ambiguous
};

struct OutputOptions {
  std::filesystem::path folder = ".";
  std::vector<Format> formats{Format::txt, Format::vtt, Format::srt, Format::tsv, Format::json};
  NameBy name_by = NameBy::stem;
  bool skip_existing = false;  // leave out inputs whose outputs all exist and are newer
};

/// One input and the files it will become, in the order of OutputOptions::formats.
struct PlannedFile {
  std::filesystem::path input;
  std::vector<std::filesystem::path> outputs;
  bool already_done = false;  // only with skip_existing
};

/// Fault::usage where no file system takes an output of this name, or of a path so long.
Result<void> expect_name(const std::filesystem::path& output);
/// The same of them all.
Result<void> expect_names(const std::vector<std::filesystem::path>& outputs);

/// Decides every output path before work starts. Two inputs that would write one file are refused, naming both; so is
/// an output that is one of the inputs (a recording called talk.srt would become its own transcript), and an input that
/// is an address.
Result<std::vector<PlannedFile>> plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options);

/// What writes the outputs of a plan: it knows the inputs.
OutputOwnership ownership_of(const std::vector<PlannedFile>& plan);

/// Fault::usage where an output of the plan is one of `read`, files that are read beside the inputs.
Result<void> expect_none_read(const std::vector<PlannedFile>& plan, std::span<const std::filesystem::path> read);

/// Makes the folders of all outputs that are still to be written, and sees whether files can be made there: better
/// known before hours of work than after.
Result<void> make_folders_of(const std::vector<PlannedFile>& plan);

/// What make_folders_of would report, as far as it can be known without making anything: for a dry run.
Result<void> expect_folders_of(const std::vector<PlannedFile>& plan);
/// The same of one folder.
Result<void> expect_output_folder(const std::filesystem::path& folder);

}  // namespace tutti
