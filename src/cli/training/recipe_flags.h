#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/try.h"
#include "cli/training/training_run.h"
#include "recipe/recipe_file.h"
#include "recipe/trainers/imported_yaml.h"
#include "recipe/trainers/trainer_names.h"
#include "settings/option_table.h"

namespace tutti {

/// Every field of a recipe is a flag; what is not as without a recipe came from its file.
class RecipeFlags {
 public:
  /// `changed`: the keys that are not as without a recipe.
  RecipeFlags(OptionTable& table, std::string file, std::vector<std::string> changed)
      : table_(table), file_(std::move(file)), changed_(std::move(changed)) {}
  void group(const char* heading) { table_.group(heading); }
  template <class T>
  void operator()(const char* name, T& field, const char* value, const char* meaning) {
    Option& option = table_.add(name, field, value, meaning);
    if (std::ranges::find(changed_, name) != changed_.end()) option.source = file_;
  }

 private:
  OptionTable& table_;
  std::string file_;
  std::vector<std::string> changed_;
};

/// A training's command line as it is read: its run, its recipe, and the file that the recipe began with.
template <class Recipe>
struct TrainingFlags {
  TrainingRun run{};
  Recipe recipe{};
  std::filesystem::path recipe_file{};
  std::string origin{};  // of what is not as without a recipe: its file or preset
};

/// Whether the training of such a recipe reads a configuration of another trainer (--import).
template <class Recipe>
inline constexpr bool kImportsYaml = false;

/// The names of the presets that the training of such a recipe has, and a preset's text as a recipe.
template <class Recipe>
std::vector<std::string> preset_names() {
  return {};
}
template <class Recipe>
std::string preset_text(const std::string&) {
  return "";
}

template <class Recipe>
void add_training(OptionTable& table, TrainingFlags<Recipe>& flags) {
  add_training_run(table, flags.run, kImportsYaml<Recipe>, preset_names<Recipe>());
  visit_fields(flags.recipe,
               RecipeFlags(table, flags.origin, changed_keys(recipe_text(flags.recipe), recipe_text(Recipe()))));
}

/// Whether help is requested, whatever else is wrong, a recipe included.
template <class Recipe>
bool requests_training_help(const std::string& command, const std::vector<std::string>& words) {
  TrainingFlags<Recipe> usual;
  OptionTable table(command, "");
  add_training(table, usual);
  return table.requests_help(words);
}

/// Puts into `flags` the recipe that the words are read over. They are read for it by the same table as afterwards, so
/// that all spellings count; what is wrong with them is reported then. `spellings`: what flags of other trainers
/// become, for the same names as keys.
template <class Recipe>
Result<void> start_recipe(const std::string& command, const std::vector<std::string>& words,
                          const FlagSpellings& spellings, TrainingFlags<Recipe>& flags) {
  TrainingFlags<Recipe> named;
  OptionTable table(command, "");
  add_training(table, named);
  static_cast<void>(table.read(words, {}));
  const auto file = TRY(recipe_file_of(named.run));
  if (auto is_new = expect_preset_of_new_training(named.run); !is_new) return is_new;
  if (const auto& preset = named.run.preset; !preset.empty()) {
    flags.recipe = TRY(read_recipe<Recipe>(preset_text<Recipe>(preset), "preset " + preset));
    flags.origin = "preset " + preset;
  }
  flags.recipe_file = file;
  if (flags.recipe_file.empty()) return {};
  flags.origin += (flags.origin.empty() ? "" : " or ") + flags.recipe_file.string();
  auto text = read_file(flags.recipe_file);
  if (text && !named.run.import.empty())
    text = recipe_of_yaml(*text, flags.recipe_file.string(), recipe_text(Recipe()).keys, print_answer);
  else if (text)
    text = recipe_in_our_keys(*text, flags.recipe_file.string(), recipe_text(Recipe()).keys, spellings, print_answer);
  if (!text) return tl::unexpected<Error>(text.error());
  flags.recipe = TRY(read_recipe(*text, flags.recipe_file.string(), std::move(flags.recipe)));
  return {};
}

/// The compute threads of a training. Sums depend on their number, so a training keeps the one it began with: 0, where
/// none is requested, becomes that of OUT/config.toml in a training that goes on, else `usual`.
template <class Recipe>
Result<void> settle_compute_threads(TrainingFlags<Recipe>& flags, int usual) {
  auto& threads = flags.recipe.arithmetic.compute_threads;
  const auto saved = flags.run.out / "config.toml";
  if (threads == 0 && flags.run.resume && is_there(saved)) {
    const auto text = TRY(read_file(saved));
    const auto before = TRY(read_recipe<Recipe>(text, saved.string()));
    threads = before.arithmetic.compute_threads;
  }
  if (threads == 0) threads = usual;
  return {};
}

}  // namespace tutti
