#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "recipe/trainers/loader_flags.h"

namespace tutti {

/// A configuration of another trainer, translated.
struct ImportedConfig {
  std::string toml{};  ///< the settings that a recipe has, each on its line of the YAML file where that is free
  std::vector<std::string>
      answers{};  ///< one line for each other key: "config.yaml:3: data.num_workers: no effect: ..."
};

/// Translates a YAML configuration of field note 002's trainer (sections model, training and data, in any nesting) to a
/// recipe of `tutti train tts`. `recipe_keys`: what a recipe has; a key of that name is taken as it is, with hyphens or
/// underscores. Other names of the note become ours, a setting that does nothing here is answered with the reason, and
/// any other key is named as unknown with the nearest known one. Numbers are those of YAML 1.2: 1e-4 is one.
/// Fault::usage for text that is no YAML, with its line, and for two keys that set the same. Where epochs are given and
/// no max-steps, max-steps becomes 0: the usual number of steps would end them early. Pure.
Result<ImportedConfig> import_yaml(const std::string& yaml, const std::string& file_name,
                                   std::span<const std::string> recipe_keys);

/// The same as the recipe's text alone, for its reader, whose errors then name lines of the YAML file. The answers go
/// to `on_answer`, one line each.
Result<std::string> recipe_of_yaml(const std::string& yaml, const std::string& file_name,
                                   std::span<const std::string> recipe_keys, const OnAnswer& on_answer);

}  // namespace tutti
