#pragma once

#include <filesystem>
#include <vector>

namespace tutti {

/// What a model that is here is read from: the file itself, or the files of its folder that models consist of. Nothing
/// is to be written onto them. Empty where there is no model.
std::vector<std::filesystem::path> files_of_model(const std::filesystem::path& model);

}  // namespace tutti
