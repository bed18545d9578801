#include "recipe/recipe_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <limits>
#include <sstream>
#include <type_traits>
#include <utility>

#include "base/strings.h"
#include "base/toml.h"
#include "base/try.h"
#include "recipe/classifier_fields.h"
#include "recipe/tts_fields.h"
#include "recipe/vocoder_recipe.h"
#include "recipe/whisper_fields.h"

namespace tutti {
namespace {

struct Preset {
  std::string_view name{};
  std::string_view text{};
};

/// The defaults of field note 004's script. Its loader has no counterpart here, and its precision is chosen by flags
/// there, too.
constexpr Preset kPresets[] = {{"whisper-small", R"(model = "openai/whisper-small"
batch-size = 16
accumulation = 1
learning-rate = 1e-5
warmup-steps = 500
schedule = "linear"
epochs = 3
clip = 1.0
weight-decay = 0.0
gradient-checkpointing = true
log-steps = 100
save-steps = 500
eval-steps = 500
keep = 3
)"}};

tl::unexpected<Error> not_a(const char* kind) {
  return fail(Fault::usage, std::string("expected ") + kind);
}

Result<void> take(const toml::node& node, bool& into) {
  if (!node.is_boolean()) return not_a("true or false");
  into = node.value_or(false);
  return {};
}

template <class Integer>
requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) Result<void> take(const toml::node& node,
                                                                                          Integer& into) {
  const auto value = node.is_integer() ? node.value<std::int64_t>() : std::nullopt;
  const bool fits =
      value && *value >= 0 && (sizeof(Integer) == 8 || *value <= std::numeric_limits<std::int32_t>::max());
  if (!fits) return not_a("a whole number, not negative");
  into = static_cast<Integer>(*value);
  return {};
}

Result<void> take(const toml::node& node, double& into) {
  if (!node.is_number()) return not_a("a number");
  into = node.value_or(0.0);
  return {};
}

template <class Text>
requires std::is_assignable_v<Text&, std::string> Result<void> take(const toml::node& node, Text& into) {
  if (!node.is_string()) return not_a("a text in quotes");
  into = node.value_or(std::string());
  return {};
}

/// Reads one key into its field.
class Taking {
 public:
  Taking(std::string_view key, const toml::node& node) : key_(key), node_(node) {}
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, T& field, const char*, const char*) {
    if (key_ == name) taken = take(node_, field);
  }
  Result<void> taken{};

 private:
  std::string_view key_;
  const toml::node& node_;
};

/// As a recipe writes it.
template <class T>
std::string value_text(const T& field) {
  std::ostringstream text;
  if constexpr (std::is_same_v<T, std::filesystem::path>)
    text << toml::value<std::string>(field.string());
  else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    text << field;
  else if constexpr (std::is_same_v<T, double>)
    text << toml_number(field);
  else if constexpr (requires { field.word(); })
    text << toml::value<std::string>(field.word());
  else
    text << toml::value<T>(field);
  return text.str();
}

class Showing {
 public:
  void group(const char* heading) { shown.toml += (shown.toml.empty() ? "# " : "\n# ") + std::string(heading) + "\n"; }
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    shown.keys.emplace_back(name);
    shown.values.push_back(value_text(field));
    shown.toml += shown.keys.back() + " = " + shown.values.back() + "\n";
  }
  RecipeText shown{};
};

template <class Recipe>
Result<void> take_key(const std::string& key, const toml::node& node, Recipe& recipe) {
  const auto known = recipe_text(recipe).keys;
  if (std::ranges::find(known, key) == known.end()) {
    const auto nearest = nearest_name(key, known);
    return fail(Fault::usage, "no such key",
                nearest.empty() ? "See 'tutti train " + std::string(Recipe::kTraining) + " --help' for all keys"
                                : "Did you mean '" + nearest + "'?");
  }
  Taking taking(key, node);
  visit_fields(recipe, taking);
  return taking.taken;
}

}  // namespace

template <class Recipe>
Result<Recipe> read_recipe(std::string_view toml, const std::string& file_name, Recipe recipe) {
  const auto table = TRY(parse_toml(toml, file_name));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (auto taken = take_key(name, node, recipe); !taken)
      return fail_in(file_name + ":" + std::to_string(node.source().begin.line) + ": '" + name + "'", taken.error());
  }
  return recipe;
}

template <class Recipe>
RecipeText recipe_text(Recipe recipe) {
  Showing showing;
  visit_fields(recipe, showing);
  return showing.shown;
}

std::vector<std::string> changed_keys(const RecipeText& now, const RecipeText& before) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < now.keys.size(); ++i)
    if (now.values[i] != before.values[i]) keys.push_back(now.keys[i]);
  return keys;
}

std::string differences(const RecipeText& now, const RecipeText& before, std::string_view keys) {
  const auto wanted = split(keys, ' ');
  std::vector<std::string> all;
  for (std::size_t i = 0; i < now.keys.size(); ++i)
    if (now.values[i] != before.values[i] && std::ranges::find(wanted, now.keys[i]) != wanted.end())
      all.push_back(now.keys[i] + " " + now.values[i] + " (it was " + before.values[i] + ")");
  return joined(all, ", ");
}

template Result<WhisperRecipe> read_recipe(std::string_view, const std::string&, WhisperRecipe);
template RecipeText recipe_text(WhisperRecipe);
template Result<ClassifierRecipe> read_recipe(std::string_view, const std::string&, ClassifierRecipe);
template RecipeText recipe_text(ClassifierRecipe);
template Result<TtsRecipe> read_recipe(std::string_view, const std::string&, TtsRecipe);
template RecipeText recipe_text(TtsRecipe);
template Result<VocoderRecipe> read_recipe(std::string_view, const std::string&, VocoderRecipe);
template RecipeText recipe_text(VocoderRecipe);

std::vector<std::string> whisper_preset_names() {
  std::vector<std::string> names;
  for (const auto& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

std::string whisper_preset(const std::string& name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == std::end(kPresets) ? std::string() : std::string(found->text);
}

}  // namespace tutti
