#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "settings/help_page.h"
#include "settings/values.h"

namespace tutti {

/// Where a value may come from, the weakest first.
enum class SourceKind { standard, file, variable, flag };

/// One setting of a command, bound to a field of the command's options.
struct Option {
  std::string name;                    // "output-dir"
  std::string alias{};                 // what other programs call the flag; empty: the same
  char letter = 0;                     // 'o' for -o; 0: none
  std::string value{};                 // the value's name in the help, "DIR"; empty: a switch
  std::string meaning{};               // one sentence or two
  std::vector<std::string> choices{};  // the only values taken; empty: any that `read` takes
  std::function<Result<void>(std::string_view)> read{};
  std::function<std::string()> show{};
  bool has_variable = true;        // false: the variable of its name is another setting
  bool repeats = false;            // given again by the same source, it goes on behind a comma
  std::string source = "default";  // where the current value came from
  SourceKind given_by = SourceKind::standard;
  std::string usual{};  // the default, as shown
};

/// One of several ways to call a command, each of which has options of its own.
struct OptionForm {
  std::string name{};                           // as errors have it: "a comparison of two profiles"
  std::vector<std::string> options{};           // their names
  std::map<std::string, std::string> advice{};  // by the name of an option of other forms: what to do here instead
};

/// What an option needs, or excludes, among the other options of its command. By their names; "given" is what has
/// another value than its default.
struct OptionRule {
  std::string option{};
  std::string needs{};                  // counts only where this one is given; empty: by itself
  std::vector<std::string> excludes{};  // cannot be given beside these
  std::string why{};                    // of `excludes`: "is for one run"
};

/// Where values may come from beside the command line. Plain data, so that tests need no environment.
struct SettingSources {
  std::map<std::string, std::string> environment{};  // TUTTI_OUTPUT_DIR -> value
  std::map<std::string, std::string> file{};         // output-dir -> value; already the section of this command
  std::string file_name{};
};

/// The options of one command: reads flags over environment over file over default, remembers which came from where,
/// and writes the help. Underscores count as hyphens in any flag; a switch takes an optional True or False.
class OptionTable {
 public:
  OptionTable(std::string command, std::string summary) : command_(std::move(command)), summary_(std::move(summary)) {}

  /// Binds a flag to a field. The field's present value is the default.
  template <class T>
  Option& add(std::string name, T& field, std::string value, std::string meaning) {
    options_.push_back({.name = std::move(name), .value = std::move(value), .meaning = std::move(meaning)});
    Option& option = options_.back();
    option.read = [&field](std::string_view text) { return read_value(text, field); };
    option.show = [&field] { return show_value(field); };
    option.usual = option.show();
    return option;
  }
  /// The same of a command line that programs write, which has no help; a bool is a switch.
  template <class T>
  Option& add(std::string name, T& field) {
    return add(std::move(name), field, std::is_same_v<T, bool> ? "" : "VALUE", "");
  }
  Option& add_switch(std::string name, bool& field, std::string meaning) {
    return add(std::move(name), field, "", std::move(meaning));
  }
  /// A comma-separated list: a flag that is given again goes on with it; a stronger source begins again.
  Option& add_list(std::string name, std::string& field, std::string value, std::string meaning) {
    Option& option = add(std::move(name), field, std::move(value), std::move(meaning));
    option.repeats = true;
    return option;
  }
  /// Starts a headed group in the help.
  void group(std::string heading) { groups_.emplace_back(options_.size(), std::move(heading)); }

  /// Command lines to begin with, from "tutti" on, for the end of the help.
  void examples(std::vector<std::string> lines) { examples_ = std::move(lines); }

  /// Names without "--" that were taken out of the words before: an unknown flag may be a misspelling of one of them.
  void also_taken(std::vector<std::string> names) { also_taken_ = std::move(names); }

  /// This table is of the form `own` of a command with several. What only `others` have is refused on the command line,
  /// with their names and the advice of `own`; where a variable or the settings file has it, it counts for nothing.
  void form(OptionForm own, std::vector<OptionForm> others) {
    form_ = std::move(own);
    other_forms_ = std::move(others);
  }

  /// The command reads neither environment nor settings file, and the help does not mention them.
  void reads_flags_alone() { other_sources_ = false; }

  /// Takes every argument that is not a flag. `least` of them must be given.
  void positional(std::vector<std::string>& into, std::string name, std::string meaning, std::size_t least = 1);

  /// What `read` found to do.
  enum class Action { run, help, show_config };

  /// Whether a flag requests the help, which is given whatever else is wrong with arguments and sources.
  bool requests_help(const std::vector<std::string>& arguments);

  /// Applies all sources. Errors name the flag, variable or file key, and the nearest known name.
  Result<Action> read(const std::vector<std::string>& arguments, const SettingSources& sources);

  /// As `read`, of the line that one of our programs writes for another: flags alone. Fault::usage names the flag.
  Result<void> read_line_of_program(std::span<char* const> arguments);

  /// Where the present value of an option is from.
  SourceKind given_by(std::string_view name);
  /// Whether the present value of an option is another one than its default.
  bool is_changed(std::string_view name) const;
  /// Checks what `read` has found. Fault::usage for the first rule that is broken.
  Result<void> expect(std::span<const OptionRule> rules) const;
  /// Options that a variable or the settings file has set, as flags, and what to call them instead in an error:
  /// {"--device", "TUTTI_DEVICE"}.
  std::vector<std::pair<std::string, std::string>> given_elsewhere() const;

  /// What the help has, as plain data.
  HelpPage page() const;
  std::string help() const;
  /// One line per setting: name = value, and where it came from.
  std::string show_config() const;
  /// Every setting's name and present value.
  std::vector<std::pair<std::string, std::string>> values() const;
  const std::string& command() const { return command_; }

 private:
  Result<Action> read_flags(const std::vector<std::string>& arguments);
  Result<std::size_t> read_flag(const std::vector<std::string>& arguments, std::size_t at);
  Result<void> apply(Option& option, std::string_view text, const std::string& source, SourceKind kind);
  Option* find(std::string_view name);
  /// The option that an argument such as --threads=4 or -o is for; none: there is no such.
  Option* option_of(std::string_view argument);
  /// A long option's own name, where a value is expected: the value was forgotten, and a folder --json is not intended.
  /// Letters are not checked, since a value may be -1.
  bool is_option(std::string_view word);
  tl::unexpected<Error> unknown(const std::string& argument) const;
  std::string unknown_hint(std::string_view name) const;
  /// The other forms of the command that have an option of this name.
  std::vector<std::string> forms_with(const std::string& name) const;

  std::string command_;
  std::string summary_;
  std::vector<Option> options_;
  std::vector<std::pair<std::size_t, std::string>> groups_;  // first option, heading
  std::vector<std::string> examples_;
  std::vector<std::string> also_taken_;
  OptionForm form_;
  std::vector<OptionForm> other_forms_;
  bool other_sources_ = true;
  std::vector<std::string>* positional_ = nullptr;
  std::string positional_name_;
  std::string positional_meaning_;
  std::size_t positional_least_ = 0;
};

/// Environment variable that sets an option: output-dir -> TUTTI_OUTPUT_DIR.
std::string variable_of(std::string_view option_name);

}  // namespace tutti
