#include "settings/option_table.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

/// --output_dir=x -> {output-dir, x}; the value keeps its underscores.
std::pair<std::string, std::optional<std::string>> split_flag(std::string_view argument) {
  argument.remove_prefix(2);
  const auto equals = argument.find('=');
  std::string name = with_hyphens(std::string(argument.substr(0, equals)));
  if (equals == std::string_view::npos) return {name, std::nullopt};
  return {name, std::string(argument.substr(equals + 1))};
}

/// The value in the flag itself: --output-dir=x, -ox.
std::optional<std::string> value_in(std::string_view argument) {
  if (argument.starts_with("--")) return split_flag(argument).second;
  return argument.size() > 2 ? std::optional<std::string>(argument.substr(2)) : std::nullopt;
}

bool is_flag(std::string_view argument) {
  return argument.size() > 1 && argument[0] == '-';
}

/// What whisperX calls options of ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kOfWhisperX{
    {{"vad-onset", "vad-threshold"}, {"vad-offset", "vad-neg-threshold"}, {"chunk-size", "vad-max-speech-duration-s"}}};

bool is_truth(std::string_view text) {
  bool ignored = false;
  return read_value(text, ignored).has_value();
}

}  // namespace

std::string variable_of(std::string_view option_name) {
  std::string name = "TUTTI_";
  for (const char c : option_name)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void OptionTable::positional(std::vector<std::string>& into, std::string name, std::string meaning, std::size_t least) {
  positional_ = &into;
  positional_name_ = std::move(name);
  positional_meaning_ = std::move(meaning);
  positional_least_ = least;
}

Option* OptionTable::find(std::string_view name) {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const Option& o) {
    return o.name == name || (!o.alias.empty() && o.alias == name);
  });
  return found == options_.end() ? nullptr : &*found;
}

Option* OptionTable::option_of(std::string_view argument) {
  if (argument.starts_with("--")) return find(split_flag(argument).first);
  const auto found = std::ranges::find(options_, argument[1], &Option::letter);
  return found == options_.end() ? nullptr : &*found;
}

bool OptionTable::is_option(std::string_view word) {
  if (word.size() <= 2 || !word.starts_with("--")) return false;
  const std::string name = split_flag(word).first;
  return name == "help" || name == "show-config" || find(name) != nullptr;
}

bool OptionTable::requests_help(const std::vector<std::string>& arguments) {
  for (std::size_t at = 0; at < arguments.size() && arguments[at] != "--"; ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--help" || argument == "-h") return true;
    const Option* option = is_flag(argument) ? option_of(argument) : nullptr;
    // The next word is the flag's value, even where it reads --help; `read` takes it so.
    if (option && !option->value.empty() && !value_in(argument)) ++at;
  }
  return false;
}

std::vector<std::string> OptionTable::forms_with(const std::string& name) const {
  std::vector<std::string> forms;
  for (const OptionForm& other : other_forms_)
    if (std::ranges::find(other.options, name) != other.options.end()) forms.push_back(other.name);
  return forms;
}

tl::unexpected<Error> OptionTable::unknown(const std::string& argument) const {
  if (argument.starts_with("--")) {
    const std::string name = split_flag(argument).first;
    if (const auto forms = forms_with(name); !forms.empty()) {
      const auto advice = form_.advice.find(name);
      return fail(
          Fault::usage, "--" + name + ": is for " + joined(forms, " or ") + ", and this is " + form_.name,
          (advice == form_.advice.end() ? "Leave it out" : advice->second) + "; see 'tutti " + command_ + " --help'");
    }
    return fail(Fault::usage, "--" + name + ": no such option", unknown_hint(name));
  }
  const std::string file = !positional_                           ? ""
                           : positional_name_.starts_with("TEXT") ? "; a text that begins with - is given behind --"
                                                                  : "; a file of this name is given as ./" + argument;
  return fail(Fault::usage, argument + ": no such option", "See 'tutti " + command_ + " --help'" + file);
}

std::string OptionTable::unknown_hint(std::string_view name) const {
  std::vector<std::string> names{"help", "show-config"};
  for (const auto& option : options_) names.push_back(option.name);
  names.insert(names.end(), also_taken_.begin(), also_taken_.end());
  for (const OptionForm& other : other_forms_) names.insert(names.end(), other.options.begin(), other.options.end());
  const auto other = std::ranges::find(kOfWhisperX, name, &std::pair<std::string_view, std::string_view>::first);
  if (other != kOfWhisperX.end() && std::ranges::find(names, other->second) != names.end())
    return "It is whisperX's name for --" + std::string(other->second) + ". See 'tutti " + command_ + " --help'";
  const std::string nearest = nearest_name(name, names);
  return (nearest.empty() ? "" : "Did you mean --" + nearest + "? ") + "See 'tutti " + command_ + " --help'";
}

Result<void> OptionTable::apply(Option& option, std::string_view text, const std::string& source, SourceKind kind) {
  if (!option.choices.empty() && std::find(option.choices.begin(), option.choices.end(), text) == option.choices.end())
    return fail(Fault::usage,
                source + ": expected one of " + joined(option.choices, ", ") + ", found '" + std::string(text) + "'");
  const bool goes_on = option.repeats && option.source == source && !option.show().empty();
  const std::string whole = (goes_on ? option.show() + "," : "") + std::string(text);
  if (auto read = option.read(whole); !read) return fail_in(source, read.error());
  option.source = source;
  option.given_by = kind;
  return {};
}

Result<void> OptionTable::read_line_of_program(std::span<char* const> arguments) {
  reads_flags_alone();
  constexpr const char* kByItself = "tutti writes this command line by itself; see tutti --help";
  const auto action = read({arguments.begin(), arguments.end()}, {});
  if (!action) return fail(action.error().fault, command_ + ": " + action.error().what, kByItself);
  if (*action != Action::run) return fail(Fault::usage, command_ + " has no help", kByItself);
  return {};
}

SourceKind OptionTable::given_by(std::string_view name) {
  const Option* option = find(name);
  return option ? option->given_by : SourceKind::standard;
}

bool OptionTable::is_changed(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  return found != options_.end() && found->show() != found->usual;
}

Result<void> OptionTable::expect(std::span<const OptionRule> rules) const {
  for (const OptionRule& rule : rules) {
    if (!is_changed(rule.option)) continue;
    const std::string hint = "See 'tutti " + command_ + " --help'";
    if (!rule.needs.empty() && !is_changed(rule.needs))
      return fail(Fault::usage, "--" + rule.option + ": has a meaning only with --" + rule.needs, hint);
    if (std::ranges::any_of(rule.excludes, [&](const std::string& other) { return is_changed(other); }))
      return fail(Fault::usage, "--" + rule.option + ": " + rule.why + ", without --" + joined(rule.excludes, ", --"),
                  hint);
  }
  return {};
}

std::vector<std::pair<std::string, std::string>> OptionTable::given_elsewhere() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const Option& option : options_)
    if (option.given_by == SourceKind::file || option.given_by == SourceKind::variable)
      names.emplace_back("--" + option.name, option.source);
  return names;
}

Result<std::size_t> OptionTable::read_flag(const std::vector<std::string>& arguments, std::size_t at) {
  const std::string& argument = arguments[at];
  Option* option = option_of(argument);
  if (!option) return unknown(argument);
  std::optional<std::string> value = value_in(argument);
  std::size_t used = 1;
  const bool has_next = at + 1 < arguments.size();
  if (!value && option->value.empty()) {
    const bool spelled_out = has_next && is_truth(arguments[at + 1]);
    value = spelled_out ? arguments[at + 1] : "True";
    used += spelled_out ? 1 : 0;
  } else if (!value) {
    if (!has_next) return fail(Fault::usage, argument + ": expected a value (" + option->value + "), found nothing");
    if (is_option(arguments[at + 1]))
      return fail(Fault::usage,
                  argument + ": expected a value (" + option->value + "), found the option " + arguments[at + 1],
                  "If that is the value, write --" + option->name + "=" + arguments[at + 1]);
    value = arguments[at + 1];
    ++used;
  }
  TRY(apply(*option, *value, "--" + option->name, SourceKind::flag));
  return used;
}

Result<OptionTable::Action> OptionTable::read_flags(const std::vector<std::string>& arguments) {
  Action action = Action::run;
  std::vector<std::string> rest;
  for (std::size_t at = 0; at < arguments.size();) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1, arguments.end());
      break;
    }
    if (argument == "--show-config" || argument == "--show_config") {
      action = Action::show_config;
      ++at;
    } else if (is_flag(argument)) {
      const auto used = TRY(read_flag(arguments, at));
      at += used;
    } else {
      rest.push_back(argument);
      ++at;
    }
  }
  if (!positional_ && !rest.empty())
    return fail(Fault::usage, "'" + rest[0] + "': this command takes no such argument",
                "See 'tutti " + command_ + " --help'");
  if (positional_ && action == Action::run && rest.size() < positional_least_)
    return fail(Fault::usage,
                "expected " + positional_name_ + ", found " + (rest.empty() ? "nothing" : "only " + joined(rest, " ")),
                "See 'tutti " + command_ + " --help'");
  if (positional_) *positional_ = std::move(rest);
  return action;
}

Result<OptionTable::Action> OptionTable::read(const std::vector<std::string>& arguments,
                                              const SettingSources& sources) {
  if (requests_help(arguments)) return Action::help;
  // Weakest first; each stronger source writes over it.
  for (const auto& [key, value] : sources.file) {
    Option* option = find(with_hyphens(key));
    if (!option && !forms_with(with_hyphens(key)).empty()) continue;
    if (!option) return fail(Fault::usage, sources.file_name + ": '" + key + "': no such setting", unknown_hint(key));
    TRY(apply(*option, value, sources.file_name + ": " + key, SourceKind::file));
  }
  for (auto& option : options_) {
    const auto variable = sources.environment.find(variable_of(option.name));
    if (variable == sources.environment.end() || !option.has_variable) continue;
    TRY(apply(option, variable->second, variable->first, SourceKind::variable));
  }
  return read_flags(arguments);
}

}  // namespace tutti
