#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/strings.h"
#include "base/toml.h"
#include "base/try.h"

// Recipes as TOML: for any struct with a `visit_fields(recipe, visit)`, which gives each field its key, its value's
// name and its help. For the .cpp of each recipe alone: it brings toml++ along.
namespace tutti::recipe_text {

inline tl::unexpected<Error> not_a(const char* kind) {
  return fail(Fault::usage, std::string("expected ") + kind);
}

inline Result<void> take(const toml::node& node, bool& into) {
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

inline Result<void> take(const toml::node& node, double& into) {
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

class Names {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, T&, const char*, const char*) {
    names.emplace_back(name);
  }
  std::vector<std::string> names{};
};

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
  else
    text << toml::value<T>(field);
  return text.str();
}

class Showing {
 public:
  void group(const char* heading) { text_ << (text_.tellp() > 0 ? "\n" : "") << "# " << heading << "\n"; }
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    text_ << name << " = " << value_text(field) << "\n";
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_{};
};

class Values {
 public:
  void group(const char*) {}
  template <class T>
  void operator()(const char* name, const T& field, const char*, const char*) {
    values.emplace_back(name, value_text(field));
  }
  std::vector<std::pair<std::string_view, std::string>> values{};
};

/// `command` has the help with all keys.
template <class Recipe>
Result<void> take_key(const std::string& key, const toml::node& node, Recipe& recipe, const std::string& command) {
  Names known;
  visit_fields(recipe, known);
  if (std::ranges::find(known.names, key) == known.names.end()) {
    const auto nearest = nearest_name(key, known.names);
    return fail(Fault::usage, "no such key",
                nearest.empty() ? "See '" + command + " --help' for all keys" : "Did you mean '" + nearest + "'?");
  }
  Taking taking(key, node);
  visit_fields(recipe, taking);
  return taking.taken;
}

/// The TOML text over what `recipe` holds already. Strict; `file_name` names the text in errors.
template <class Recipe>
Result<Recipe> read(std::string_view toml, const std::string& file_name, Recipe recipe, const std::string& command) {
  const auto table = TRY(parse_toml(toml, file_name));
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (auto taken = take_key(name, node, recipe, command); !taken)
      return fail_in(file_name + ":" + std::to_string(node.source().begin.line) + ": '" + name + "'", taken.error());
  }
  return recipe;
}

/// The whole recipe as TOML; reading it gives the same recipe.
template <class Recipe>
std::string show(Recipe recipe) {
  Showing showing;
  visit_fields(recipe, showing);
  return showing.text();
}

/// Where `now` differs in the keys `binding`: "batch-size 4 (it was 2), seed 3 (it was 1)". Empty: nowhere.
template <class Recipe>
std::string differences(Recipe now, Recipe before, std::span<const std::string_view> binding) {
  Values requested, had;
  visit_fields(now, requested);
  visit_fields(before, had);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < requested.values.size(); ++i)
    if (const auto& [name, value] = requested.values[i];
        value != had.values[i].second && std::ranges::find(binding, name) != binding.end())
      all.push_back(std::string(name) + " " + value + " (it was " + had.values[i].second + ")");
  return joined(all, ", ");
}

}  // namespace tutti::recipe_text
