#include "cli/training/recipe_keys.h"

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "base/numbers.h"
#include "base/strings.h"
#include "cli/settings/values.h"

namespace tutti {
namespace {

/// A line `key = value` of TOML. Its value may be a text in quotes, and a comment may follow.
struct KeyLine {
  std::string key{};
  std::string value{};   // without quotes
  std::string behind{};  // the value as it is there, with what follows it
};

bool is_quote(char c) {
  return c == '"' || c == '\'';
}

bool is_key_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// An empty key where the line has none, or one that no flag could be.
KeyLine key_line(const std::string& line) {
  const auto equals = line.find('=');
  if (equals == std::string::npos) return {};
  std::string key(trimmed(line.substr(0, equals)));
  if (key.size() > 2 && key.front() == key.back() && is_quote(key.front())) key = key.substr(1, key.size() - 2);
  if (key.empty() || !std::ranges::all_of(key, is_key_character)) return {};
  KeyLine found{.key = key, .behind = std::string(trimmed(line.substr(equals + 1)))};
  if (!found.behind.empty() && is_quote(found.behind[0]))
    found.value = found.behind.substr(1, found.behind.find(found.behind[0], 1) - 1);
  else
    found.value = trimmed(found.behind.substr(0, found.behind.find('#')));
  return found;
}

/// A flag's value as TOML has it.
std::string literal(const std::string& value) {
  const bool is_plain = number_in<double>(value) || value == "true" || value == "false";
  return is_plain ? value : "\"" + value + "\"";
}

/// The line for the words that replace a key: "--batch-size", "4", or "--batch-size=4".
std::string line_of(const std::vector<std::string>& words, const KeyLine& was) {
  const auto flag = words[0].substr(2), name = flag.substr(0, flag.find('='));
  const auto value = name.size() < flag.size() ? flag.substr(name.size() + 1) : words.size() > 1 ? words[1] : "true";
  return with_hyphens(name) + " = " + (value == was.value ? was.behind : literal(value));
}

Result<std::string> in_our_key(const std::string& line, std::span<const std::string> known,
                               const FlagSpellings& spellings) {
  const auto found = key_line(line);
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (found.key.empty() || is_known(found.key)) return line;
  const auto name = with_hyphens(found.key);
  if (is_known(name) && found.value != "-1") return name + " = " + found.behind;
  const auto taken = spellings({"--" + name, found.value});
  if (!taken) return tl::unexpected<Error>(taken.error());
  for (const auto& answer : taken->answers) std::fprintf(stderr, "%s\n", answer.c_str());
  if (taken->words.empty()) return std::string();
  const bool is_same = taken->words == std::vector<std::string>{"--" + name, found.value};
  return is_same && !is_known(name) ? line : line_of(taken->words, found);
}

}  // namespace

Result<std::string> recipe_in_our_keys(const std::string& toml, const std::string& file_name,
                                       std::span<const std::string> known, const FlagSpellings& spellings) {
  std::vector<std::string> lines;
  for (const auto& part : split(toml, '\n')) {
    auto line = in_our_key(std::string(part), known, spellings);
    if (!line) return fail_in(file_name + ":" + std::to_string(lines.size() + 1), line.error());
    lines.push_back(std::move(*line));
  }
  return joined(lines, "\n");
}

}  // namespace tutti
