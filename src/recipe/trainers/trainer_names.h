#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "recipe/trainers/loader_flags.h"

namespace tutti {

/// The flags of a training with the names of Hugging Face's trainer and its scripts (--num_train_epochs,
/// --logging_steps, --gradient_accumulation_steps, --bf16, ...) put into ours; all other words as they are. Pure.
/// Fault::usage for names that set two values of one setting, --bf16 and --tf32: one would silently win.
Result<std::vector<std::string>> in_our_names(const std::vector<std::string>& arguments);

/// What the flags of other trainers become, with their answers.
using FlagSpellings = std::function<Result<LoaderFlags>(const std::vector<std::string>& words)>;

/// A recipe's text in which every key has our name: keys take the spellings that flags take. Hyphens and underscores
/// are the same; a key that `spellings` renames gets that name; one that it answers is left out, and the answer goes to
/// `on_answer`. Other keys, and `known` ones, stay for the recipe's strict reader. Lines keep their numbers.
/// `file_name` names the text. Errors: those of `spellings`, with the line.
Result<std::string> recipe_in_our_keys(const std::string& toml, const std::string& file_name,
                                       std::span<const std::string> known, const FlagSpellings& spellings,
                                       const OnAnswer& on_answer);

}  // namespace tutti
