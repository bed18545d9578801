#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "prepare/known_text.h"

namespace tutti {

/// A recording to prepare.
struct PrepareInput {
  std::filesystem::path path{};  // as it was typed; of tables and lists absolute
  std::vector<TextRow> rows{};   // its text in a table that names it; empty: the text is a file of its own
};

/// The recordings that a command line names: what `tutti batch` takes (transcribe/inputs/inputs.h). A table's columns
/// text, start, end (or offset and duration) are the texts of its recordings; several rows may name one.
Result<std::vector<PrepareInput>> prepare_inputs(const std::vector<std::string>& arguments);

/// Changes with a recording and its text: their sizes and times, or the rows. Empty where one of them is not there.
std::string stamp_of_sources(const PrepareInput& input, const std::filesystem::path& texts);

}  // namespace tutti
