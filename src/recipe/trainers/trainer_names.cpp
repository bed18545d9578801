#include "recipe/trainers/trainer_names.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "recipe/trainers/trainer_settings.h"
#include "settings/values.h"

namespace tutti {
namespace {

using Chosen = std::map<std::string, std::pair<std::string, std::string>>;  // setting -> its value, by which name

/// Notes what a switch chooses.
Result<void> note(const std::string& name, const std::string& ours, const std::string& choice, Chosen& chosen) {
  const auto& [value, by] = chosen.try_emplace(ours, choice, name).first->second;
  if (value == choice) return {};
  return fail(Fault::usage, by + " and " + name + ": " + ours + " is either " + value + " or " + choice,
              "Leave out one of them");
}

/// Elsewhere -1 steps are all of them, which is 0 here.
std::vector<std::string> with_our_values(std::vector<std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (with_hyphens(words[i]) == "--max-steps=-1") words[i] = "--max-steps=0";
    if (i > 0 && words[i] == "-1" && with_hyphens(words[i - 1]) == "--max-steps") words[i] = "0";
  }
  return words;
}

/// In other trainers one flag states that there is a checkpoint to go on from, or names it.
std::vector<std::string> with_our_resume(std::vector<std::string> words) {
  constexpr std::string_view kTheirs = "--resume-from-checkpoint";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto equals = std::min(words[i].find('='), words[i].size());
    if (with_hyphens(words[i].substr(0, equals)) != kTheirs) continue;
    const std::string given = words[i].substr(equals);  // with its '='
    const std::string named = !given.empty() ? given.substr(1) : i + 1 < words.size() ? words[i + 1] : "";
    bool wanted = false;
    const bool is_switch = named.empty() || named.starts_with("-") || read_value(named, wanted);
    words[i] = (is_switch ? "--resume" : "--resume-from") + given;
  }
  return words;
}

/// Whether the switch at `words[i]` is on. Elsewhere switches are given values, too: behind '=', or as the next word,
/// which is then taken.
Result<bool> is_on(const std::vector<std::string>& words, std::size_t& i) {
  const auto equals = words[i].find('=');
  bool wanted = true;
  if (equals == std::string::npos) {
    if (i + 1 < words.size() && read_value(words[i + 1], wanted)) ++i;
    return wanted;
  }
  if (auto read = read_value(words[i].substr(equals + 1), wanted); !read) return fail_in(words[i], read.error());
  return wanted;
}

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
                               const FlagSpellings& spellings, const OnAnswer& on_answer) {
  const auto found = key_line(line);
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
  if (found.key.empty() || is_known(found.key)) return line;
  const auto name = with_hyphens(found.key);
  if (is_known(name) && found.value != "-1") return name + " = " + found.behind;
  const auto taken = TRY(spellings({"--" + name, found.value}));
  for (const auto& answer : taken.answers) on_answer(answer);
  if (taken.words.empty()) return std::string();
  const bool is_same = taken.words == std::vector<std::string>{"--" + name, found.value};
  return is_same && !is_known(name) ? line : line_of(taken.words, found);
}

}  // namespace

Result<std::vector<std::string>> in_our_names(const std::vector<std::string>& arguments) {
  const auto& settings = trainer_settings(TrainerNames::common);
  std::vector<std::string> ours;
  Chosen chosen;
  const auto words = with_our_resume(with_our_values(arguments));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    const auto equals = std::min(word.find('='), word.size());
    const auto name = word.starts_with("--") ? with_hyphens(word.substr(0, equals)) : std::string();
    const auto known = settings.find(std::string_view(name).substr(name.empty() ? 0 : 2));
    if (known == settings.end()) {
      ours.push_back(word);
      continue;
    }
    const auto flag = "--" + known->second.text;
    if (known->second.treatment != Treatment::choose) {
      ours.push_back(flag + word.substr(equals));
    } else if (const bool on = TRY(is_on(words, i)); on) {
      TRY(note(name, flag, known->second.value, chosen));
      ours.insert(ours.end(), {flag, known->second.value});
    }
  }
  return ours;
}

Result<std::string> recipe_in_our_keys(const std::string& toml, const std::string& file_name,
                                       std::span<const std::string> known, const FlagSpellings& spellings,
                                       const OnAnswer& on_answer) {
  std::vector<std::string> lines;
  for (const auto& part : split(toml, '\n')) {
    auto line = in_our_key(std::string(part), known, spellings, on_answer);
    if (!line) return fail_in(file_name + ":" + std::to_string(lines.size() + 1), line.error());
    lines.push_back(std::move(*line));
  }
  return joined(lines, "\n");
}

}  // namespace tutti
