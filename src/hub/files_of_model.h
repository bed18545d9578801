#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// What a model that is here is read from: the file itself, or the files of its folder that models consist of. Nothing
/// is to be written onto them. Empty where there is no model.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& model);

/// A SHA-256 in hex by which machines recognise the same model, wherever it is on each: names and sizes of its files,
/// and their contents, of a file above 4 MiB 256 evenly spread pieces of 16 KiB. So a model of gigabytes on a network
/// folder is read in no time, and one that was fine-tuned in some of its layers is another. Fault::unavailable: a file
/// cannot be read.
Result<std::string> digest_of_model(const std::filesystem::path& model);

}  // namespace tutti
