#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
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

/// A file whatever it is called: over links it is the same one.
using FileNumber = std::pair<dev_t, ino_t>;
/// None where there is no file.
std::optional<FileNumber> number_of(const std::filesystem::path& path);

/// Fault::usage where an output is one of the inputs: a recording that is called talk.srt would become its own
/// transcript.
Result<void> expect_no_input(const std::filesystem::path& output, const std::set<FileNumber>& inputs);

/// Fault::usage where no file system takes an output of this name, or of a path so long.
Result<void> expect_name(const std::filesystem::path& output);
/// The same of them all.
Result<void> expect_names(const std::vector<std::filesystem::path>& outputs);

/// Decides every output path before work starts. Two inputs that would write one file are refused, naming both; so is
/// an output that is one of the inputs, and an input that is an address.
Result<std::vector<PlannedFile>> plan_outputs(const std::vector<std::string>& inputs, const OutputOptions& options);

/// Makes the folders of all outputs that are still to be written, and sees whether files can be made there: better
/// known before hours of work than after.
Result<void> make_folders_of(const std::vector<PlannedFile>& plan);

/// What make_folders_of would say, as far as it can be told without making anything: for a dry run.
Result<void> expect_folders_of(const std::vector<PlannedFile>& plan);
/// The same of one folder.
Result<void> expect_place_for_outputs(const std::filesystem::path& folder);

}  // namespace tutti
