#include <algorithm>

#include "base/strings.h"
#include "settings/option_table.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr std::size_t kIndent = 4;
constexpr std::size_t kMeaningColumn = 32;
constexpr std::size_t kWidth = 100;

/// `text` broken at spaces, every line but the first starting at `column`.
std::string wrapped(std::string_view text, std::size_t column) {
  std::string out;
  std::size_t at = column;
  while (!text.empty()) {
    const auto space = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, space);
    if (at + word.size() > kWidth && at > column) {
      out += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return out;
}

std::string flag_of(const HelpOption& option) {
  std::string out = option.short_flag ? std::string("-") + option.short_flag + ", --" : "--";
  out += option.name;
  if (!option.value.empty()) out += " " + option.value;
  return out;
}

/// The choices, where the text does not name each of them.
std::string choices_of(const Option& option) {
  const std::string text = option.value + " " + option.meaning;
  const auto named = [&](const std::string& choice) { return text.find(choice) != text.npos; };
  if (std::ranges::all_of(option.choices, named)) return "";
  std::string all;
  for (const auto& choice : option.choices) all += (all.empty() ? "; one of " : ", ") + choice;
  return all;
}

HelpOption shown(const Option& option) {
  const bool is_described = option.usual == "None" && option.meaning.find("default: ") != std::string::npos;
  const bool silent = option.usual.empty() || is_described || (option.value.empty() && option.usual == "False");
  return {.name = option.name,
          .short_flag = option.letter,
          .value = option.value,
          .meaning = option.meaning + choices_of(option) + (silent ? "" : " [" + option.usual + "]"),
          .choices = option.choices};
}

std::string line_of(const HelpOption& option) {
  std::string line = std::string(kIndent, ' ') + flag_of(option);
  line += line.size() + 2 > kMeaningColumn ? "\n" + std::string(kMeaningColumn, ' ')
                                           : std::string(kMeaningColumn - line.size(), ' ');
  return line + wrapped(option.meaning, kMeaningColumn) + "\n";
}

std::string where_settings_come_from(const HelpPage& page) {
  const std::string& name = page.example_of_sources;
  if (name.empty()) return "";
  return "\nA flag wins over its variable (--" + name + ": " + variable_of(name) +
         "), a variable over the file\n~/.config/tutti/config.toml ([" + page.command + "] " + name +
         " = \"...\"), the file over the default in brackets.\n";
}

}  // namespace

std::string help_text(const HelpPage& page) {
  std::string out = wrapped(page.summary, 0) + "\n\nUsage: tutti " + page.command + " [OPTION]...";
  if (!page.positional.empty()) out += " " + page.positional;
  out += "\n";
  if (!page.positional.empty()) {
    std::string line = std::string(kIndent, ' ') + page.positional;
    line.resize(std::max(line.size() + 2, kMeaningColumn), ' ');
    out += "\n" + line + wrapped(page.positional_meaning, kMeaningColumn) + "\n";
  }
  for (const auto& group : page.groups) {
    out += "\n" + group.heading + "\n";
    for (const auto& option : group.options) out += line_of(option);
  }
  out += "\n" + std::string(kIndent, ' ') + "-h, --help                  this text\n" + std::string(kIndent, ' ') +
         "--show-config               every setting, its value, and where it came from\n";
  if (!page.examples.empty()) out += "\nExamples\n";
  for (const auto& example : page.examples) out += std::string(kIndent, ' ') + example + "\n";
  return out + where_settings_come_from(page);
}

HelpPage OptionTable::page() const {
  HelpPage page{.command = command_,
                .summary = summary_,
                .positional = positional_ ? positional_name_ : "",
                .positional_meaning = positional_meaning_,
                .examples = examples_};
  if (groups_.empty() || groups_[0].first > 0) page.groups.push_back({.heading = "Options"});
  std::size_t next_group = 0;
  for (std::size_t i = 0; i < options_.size(); ++i) {
    while (next_group < groups_.size() && groups_[next_group].first == i)
      page.groups.push_back({.heading = groups_[next_group++].second});
    page.groups.back().options.push_back(shown(options_[i]));
  }
  const auto with_value = std::ranges::find_if(options_, [](const Option& option) { return !option.value.empty(); });
  if (with_value != options_.end() && other_sources_) page.example_of_sources = with_value->name;
  return page;
}

std::string OptionTable::help() const {
  return help_text(page());
}

std::vector<std::pair<std::string, std::string>> OptionTable::values() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& option : options_) all.emplace_back(option.name, option.show());
  return all;
}

std::string OptionTable::show_config() const {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const auto& option : options_) {
    name_width = std::max(name_width, option.name.size());
    value_width = std::max(value_width, std::min<std::size_t>(columns_of(without_controls(option.show())), 40));
  }
  std::string out;
  for (const auto& option : options_) {
    const std::string value = without_controls(option.show());
    const std::size_t columns = columns_of(value);
    out += option.name + std::string(name_width - option.name.size(), ' ') + " = " + value;
    out += std::string(std::max(columns, value_width) - columns, ' ') + "  # " + option.source + "\n";
  }
  return out;
}

}  // namespace tutti
