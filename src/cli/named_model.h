#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "hub/find.h"

namespace tutti {

/// find_model() for a command's --model. Where `word` is a name and no path, the log names the folder or file that it
/// was found as.
Result<std::filesystem::path> find_named_model(std::string_view word,
                                               const ModelFolders& folders = ModelFolders::from_environment());

}  // namespace tutti
