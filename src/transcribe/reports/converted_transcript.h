#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/output_ownership.h"
#include "transcribe/output_plan.h"
#include "transcript/replace_text.h"
#include "transcript/writers.h"

namespace tutti {

/// What the files are to become.
struct ConvertTarget {
  std::vector<Format> formats;
  WriterOptions options;
  std::shared_ptr<const ReplacementList> replacements;  // null: none
  std::string layout_flag;                              // one that needs word times; empty: none is set
};

/// What was written, and which of it was there before.
struct ConvertedTranscript {
  std::vector<std::filesystem::path> outputs{};
  std::vector<std::filesystem::path> replaced{};
  std::size_t replacements = 0;  // texts
};

/// Reads a transcript (of "-" from standard input), mends what is untidy in it, with a warning, and writes it in the
/// other formats. Adds to `done` what it wrote, after an error, too.
Result<void> convert_transcript(const PlannedFile& file, const ConvertTarget& target, const OutputOwnership& files,
                                ConvertedTranscript& done);

}  // namespace tutti
