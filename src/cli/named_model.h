#pragma once

#include <filesystem>
#include <string_view>

#include "base/error.h"
#include "hub/find.h"
#include "jobs/open_store.h"

namespace tutti {

/// find_model() for a command's --model. Where `word` is a name and no path, the log names the folder or file that it
/// was found as.
Result<std::filesystem::path> find_named_model(std::string_view word,
                                               const ModelFolders& folders = ModelFolders::from_environment());

/// The store that --state names; where it names none, that in the usual folder. Fault::usage for a server, which no
/// store of this version is on.
Result<StoreUrl> store_named(const std::filesystem::path& state);

}  // namespace tutti
