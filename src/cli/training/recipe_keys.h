#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/training/loader_flags.h"

namespace tutti {

/// What the flags of other trainers become, with their answers.
using FlagSpellings = std::function<Result<LoaderFlags>(const std::vector<std::string>& words)>;

/// A recipe's text in which every key has our name: keys take the spellings that flags take. Hyphens and underscores
/// are the same; a key that `spellings` renames gets that name; one that it answers is left out, and the answer goes to
/// standard error. Other keys, and `known` ones, stay for the recipe's strict reader. Lines keep their numbers.
/// `file_name` names the text. Errors: those of `spellings`, with the line. Safe from one thread.
Result<std::string> recipe_in_our_keys(const std::string& toml, const std::string& file_name,
                                       std::span<const std::string> known, const FlagSpellings& spellings);

}  // namespace tutti
