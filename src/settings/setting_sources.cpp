#include "settings/setting_sources.h"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "base/environment.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/toml.h"
#include "base/try.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct SettingsFile {
  fs::path path;
  bool required = false;
};

SettingsFile settings_file() {
  if (const auto named = variable(own_variables::kConfig)) return {*named, true};
  return {xdg_home("XDG_CONFIG_HOME", ".config") / "tutti/config.toml"};
}

std::map<std::string, std::string> tutti_variables() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    const auto equals = line.find('=');
    if (line.starts_with("TUTTI_") && equals != std::string_view::npos && equals + 1 < line.size())
      found.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return found;
}

/// What a flag would be given for it; none: a date or a table, which no setting is.
std::optional<std::string> text_of(const toml::node& value) {
  if (value.is_string()) return value.value<std::string>();
  if (value.is_boolean()) return show_value(value.value_or(false));
  if (value.is_integer()) return std::to_string(value.value_or(std::int64_t{0}));
  if (value.is_floating_point()) return show_value(value.value_or(0.0));
  const auto* list = value.as_array();
  if (!list) return {};
  std::string joined;
  for (const auto& item : *list) {
    const auto text = item.is_array() ? std::nullopt : text_of(item);
    if (!text) return {};
    joined += (&item == &list->front() ? "" : ",") + *text;
  }
  return joined;
}

Result<std::map<std::string, std::string>> texts_of(const toml::table& section, const std::string& file_name) {
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : section) {
    const std::string key(name.str());
    const auto text = text_of(value);
    if (!text)
      return fail(Fault::usage,
                  file_name + ":" + std::to_string(value.source().begin.line) + ": " + key +
                      ": expected a text, a number, true or false, or a list of these, found " +
                      (value.is_table()   ? "a table"
                       : value.is_array() ? "a list of something else"
                                          : "a date or time"),
                  "Put a text in quotes");
    texts.emplace(key, *text);
  }
  return texts;
}

}  // namespace

Result<std::map<std::string, std::string>> settings_section(const std::string& toml, const std::string& file_name,
                                                            const std::string& command,
                                                            const std::vector<std::string>& commands) {
  const auto table = TRY(parse_toml(toml, file_name));
  std::map<std::string, std::string> section;
  for (const auto& [name, value] : table) {
    const std::string key(name.str());
    const bool is_command = std::find(commands.begin(), commands.end(), key) != commands.end();
    if (!value.is_table())
      return fail(Fault::usage, file_name + ": '" + key + "': expected a section, found a value",
                  is_command ? "Write [" + key + "] on a line of its own, and its settings below"
                             : "A setting goes below its command's name: write [transcribe], or another, above it");
    if (!is_command) {
      const std::string nearest = nearest_name(key, commands);
      return fail(
          Fault::usage, file_name + ": '" + key + "': no such section",
          nearest.empty() ? "Sections are named after commands: [transcribe]" : "Did you mean [" + nearest + "]?");
    }
    if (key != command) continue;
    auto texts = texts_of(*value.as_table(), file_name);
    if (!texts) return texts;
    section = std::move(*texts);
  }
  return section;
}

fs::path settings_file_path() {
  return settings_file().path;
}

Result<SettingSources> setting_sources(const std::string& command, const std::vector<std::string>& commands) {
  SettingSources sources;
  sources.environment = tutti_variables();
  const SettingsFile file = settings_file();
  std::error_code ignored;
  if (file.path.empty() || (!file.required && !fs::exists(file.path, ignored))) return sources;
  const auto text = TRY(read_file(file.path));
  sources.file_name = file.path.string();
  sources.file = TRY(settings_section(text, sources.file_name, command, commands));
  return sources;
}

}  // namespace tutti
