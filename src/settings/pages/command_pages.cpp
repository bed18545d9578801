#include "settings/pages/command_pages.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tutti {
namespace {

/// The parts of "a|b|C".
std::vector<std::string> alternatives(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const auto bar = std::min(text.find('|'), text.size());
    parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return parts;
}

bool is_word(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-' || c == '_' || c == '.';
  });
}

}  // namespace

std::vector<std::string> names_of(const std::vector<CommandPages>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.push_back(command.name);
  return names;
}

std::vector<std::string> words_of_value(const HelpOption& option) {
  if (!option.choices.empty()) return option.choices;
  std::vector<std::string> words;
  for (const auto& word : alternatives(option.value))
    if (is_word(word)) words.push_back(word);
  return words;
}

ValueKind kind_of_value(const std::string& value) {
  const auto has = [&](const char* name) { return value.find(name) != std::string::npos; };
  if (has("FILE") || has("PATH") || has("JSON") || has("MODEL") || has(".toml")) return ValueKind::file;
  return has("DIR") || has("FOLDER") ? ValueKind::folder : ValueKind::word;
}

std::string first_remark(const std::string& text) {
  constexpr std::size_t kLongest = 80;
  const auto end = std::min(text.find(';'), text.find(". "));
  std::string remark = text.substr(0, end);
  if (remark.size() <= kLongest) return remark;
  const auto space = remark.rfind(' ', kLongest);
  return remark.substr(0, space == std::string::npos ? kLongest : space) + " ...";
}

}  // namespace tutti
