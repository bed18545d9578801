#include "recipe/trainers/imported_yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/toml.h"
#include "base/try.h"
#include "recipe/trainers/loader_flags.h"
#include "recipe/trainers/trainer_settings.h"
#include "settings/values.h"

namespace tutti {
namespace {

/// As a text in TOML.
std::string quoted(const std::string& text) {
  std::ostringstream toml;
  toml << toml::value<std::string>(text);
  return toml.str();
}

/// One translation: what was read so far.
class Translation {
 public:
  Translation(std::string file_name, std::span<const std::string> recipe_keys)
      : file_name_(std::move(file_name)), recipe_keys_(recipe_keys) {
    for (const auto& [name, setting] : of_file_)
      if (setting.is_renamed()) ours_.emplace(name, setting.text);
  }

  Result<void> read_map(const YAML::Node& map, const std::string& section) {
    for (const auto& pair : map) {
      const auto written = pair.first.Scalar();
      const std::string path = section.empty() ? written : section + "." + written;
      if (pair.second.IsMap()) {
        if (auto read = read_map(pair.second, path); !read) return read;
      } else if (auto read = read_value(pair.first.Mark().line, path, with_hyphens(written), pair.second); !read) {
        return read;
      }
    }
    return {};
  }

  ImportedConfig end() {
    const auto epochs = settings_.find("epochs");
    if (epochs != settings_.end() && !settings_.contains("max-steps")) {
      set(epochs->second.line, "max-steps", "0", "epochs");
      answer(epochs->second.line, epochs->second.path, "the epochs alone end the training: max-steps becomes 0");
    }
    std::map<int, std::string> lines;
    for (const auto& [key, setting] : settings_) {
      int line = setting.line;
      while (lines.contains(line)) ++line;  // several settings on one line
      lines[line] = key + " = " + setting.value;
    }
    int at = 0;
    for (const auto& [line, text] : lines) {
      for (; at < line; ++at) config_.toml += '\n';
      config_.toml += text;
    }
    config_.toml += '\n';
    return std::move(config_);
  }

 private:
  struct Setting {
    std::string value{};  // as TOML has it
    std::string path{};   // the key in the YAML file that sets it
    int line = 0;         // its line there, from 0
  };

  Result<void> read_value(int line, const std::string& path, const std::string& name, const YAML::Node& value) {
    const auto ours = ours_.find(name);
    const std::string key = ours != ours_.end() ? ours->second : name;
    if (std::ranges::find(recipe_keys_, key) == recipe_keys_.end()) {
      answer(line, path, reason(name));
      return {};
    }
    if (!value.IsScalar()) {
      answer(line, path, value.IsNull() ? "no value: it stays as it is" : "no effect: a list, expected one value");
      return {};
    }
    const auto before = settings_.find(key);
    if (before != settings_.end())
      return fail(Fault::usage, at(line) + path + " and " + before->second.path + " both set " + key,
                  "Leave out one of them");
    set(line, key, value_text(key, name, value), path);
    return {};
  }

  /// Why a key that no recipe has does nothing.
  std::string reason(const std::string& name) const {
    const auto fixed = of_file_.find(name);
    if (fixed != of_file_.end() && !fixed->second.is_renamed()) return fixed->second.text;
    if (const auto answer = loader_answer(name)) return *answer;
    if (const auto answer = note_answer(name)) return *answer;
    std::vector<std::string> known(recipe_keys_.begin(), recipe_keys_.end());
    for (const auto& [theirs, ours] : ours_) known.push_back(theirs);
    for (const auto& [theirs, setting] : of_file_) known.push_back(theirs);
    auto nearest = nearest_name(name, known);
    std::ranges::replace(nearest, '-', '_');  // as such files write their keys
    return "unknown, no effect" + (nearest.empty() ? std::string() : "; did you mean '" + nearest + "'?");
  }

  /// As TOML has it. `name` is the file's own name of the setting, whose values may be others than ours.
  static std::string value_text(const std::string& key, const std::string& name, const YAML::Node& value) {
    const auto& text = value.Scalar();
    const bool is_plain = value.Tag() != "!";  // without quotes
    const bool is_true = is_plain && (text == "true" || text == "True" || text == "TRUE");
    const bool is_false = is_plain && (text == "false" || text == "False" || text == "FALSE");
    if (name == "mixed-precision" && (is_true || is_false)) return is_true ? "\"bfloat16\"" : "\"float32\"";
    if (key == "schedule" && text.starts_with("cosine")) return "\"cosine\"";
    if (is_true || is_false) return is_true ? "true" : "false";
    if (name == "model-gpu" || name == "data-gpu") return quoted(note_device(text));
    const auto digits = std::string_view(text).substr(text.starts_with("+") ? 1 : 0);
    const auto whole = number_in<std::int64_t>(digits);
    if (is_plain && whole) return std::to_string(*whole);
    if (const auto number = number_in<double>(digits); is_plain && number) return toml_number(*number);
    return quoted(text);
  }

  void set(int line, const std::string& key, std::string value, std::string path) {
    settings_[key] = {.value = std::move(value), .path = std::move(path), .line = line};
  }
  std::string at(int line) const { return file_name_ + ":" + std::to_string(line + 1) + ": "; }
  void answer(int line, const std::string& path, const std::string& text) {
    config_.answers.push_back(at(line) + path + ": " + text);
  }

  std::string file_name_;
  std::span<const std::string> recipe_keys_;
  const TrainerSettings& of_file_ = trainer_settings(TrainerNames::file);
  std::map<std::string, std::string, std::less<>> ours_ = note_names();
  std::map<std::string, Setting> settings_{};  // by the recipe's key
  ImportedConfig config_{};
};

}  // namespace

Result<ImportedConfig> import_yaml(const std::string& yaml, const std::string& file_name,
                                   std::span<const std::string> recipe_keys) {
  try {
    const auto root = YAML::Load(yaml);
    if (!root.IsMap())
      return fail(Fault::usage, file_name + ": expected YAML with keys and values, such as 'batch_size: 16'");
    Translation translation(file_name, recipe_keys);
    TRY(translation.read_map(root, ""));
    return translation.end();
  } catch (const YAML::Exception& error) {
    return fail(Fault::usage, file_name + ":" + std::to_string(error.mark.line + 1) + ": no YAML: " + error.msg);
  }
}

Result<std::string> recipe_of_yaml(const std::string& yaml, const std::string& file_name,
                                   std::span<const std::string> recipe_keys, const OnAnswer& on_answer) {
  const auto imported = TRY(import_yaml(yaml, file_name, recipe_keys));
  for (const auto& answer : imported.answers) on_answer(answer);
  return imported.toml;
}

}  // namespace tutti
