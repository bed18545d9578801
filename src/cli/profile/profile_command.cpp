#include <algorithm>
#include <cstdio>

#include "base/process/exit_code.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/profile/command_profile.h"
#include "cli/profile/profile_forms.h"
#include "device/emulated_spec.h"
#include "profile/comparison.h"
#include "traces/trace_import.h"

namespace tutti {
namespace {

int refuse(const std::string& what) {
  return complain({Fault::usage, what, "See 'tutti profile --help'"}, kUsage);
}

/// A program that knows nothing of us.
int run_program(const CommandProfile& profile) {
  if (profile.command.empty()) return refuse("expected a program behind --, found nothing");
  if (profile.seconds < 0) return refuse("--seconds: expected 0 or more");
  return profile_program(profile);
}

int run_command(CommandProfile profile, std::int32_t steps, const std::string& memory) {
  if (profile.threads_budget && *profile.threads_budget < 1) return refuse("--threads-budget: expected 1 or more");
  if (!memory.empty()) {
    profile.memory = parse_bytes(memory);
    if (!profile.memory) profile.memory = parse_bytes(memory + "B");
    if (!profile.memory || profile.memory->value <= 0)
      return refuse("--memory: expected a size such as 4GiB, found '" + memory + "'");
  }
  if (const auto why = why_not_profiled(profile.command)) return refuse(*why);
  if (const auto why = profile.experiment ? why_no_experiment(profile.command) : std::nullopt) return refuse(*why);
  if (steps < 0 || (steps > 0 && profile.command[1] != "train"))
    return refuse("--steps: expected 1 or more, of a training; --seconds ends any command");
  if (steps > 0) profile.command.insert(profile.command.end(), {"--max-steps", std::to_string(steps)});
  if (profile.seconds < 0) return refuse("--seconds: expected 0 or more");
  return profile_command(profile).code;
}

int run_comparison(const ProfileFlags& flags) {
  if (flags.files.size() != 2)
    return refuse("--compare: expected two files, found " + std::to_string(flags.files.size()));
  const auto before = read_profile(flags.files[0]), after = read_profile(flags.files[1]);
  for (const auto* run : {&before, &after})
    if (!*run) return complain(run->error());
  std::fputs((flags.json ? comparison_json(*before, *after) + "\n" : comparison_text(*before, *after)).c_str(), stdout);
  return kDone;
}

int run_import(const ProfileFlags& flags) {
  if (flags.files.empty()) return refuse("--import: expected a trace, found none");
  if (flags.trace.kernel_gap < 0) return refuse("--kernel-gap: expected 0 or more nanoseconds");
  const auto devices = import_traces({flags.files.begin(), flags.files.end()}, flags.trace);
  if (!devices) return complain(devices.error());
  std::fputs((flags.json ? trace_json(*devices) + "\n" : trace_text(*devices)).c_str(), stdout);
  return kDone;
}

std::string stray_text(const std::string& word) {
  return "'" + word + "': a command begins behind --";
}

/// Reads a command line by the flags of all forms: it requests the help or the configuration, or names no form, so that
/// only a variable or the settings file can name a pipeline. A value is the exit code of a command that is over.
std::optional<int> start_without_form(OptionTable& table, const ProfileFlags& flags,
                                      const std::vector<std::string>& words) {
  if (const auto code = start_command(table, words)) return code;
  if (!flags.files.empty()) return refuse(stray_text(flags.files[0]));
  if (!flags.pipeline.file.empty()) return std::nullopt;
  return refuse("expected --pipeline FILE.toml, or a command behind --");
}

bool requests_settings(OptionTable& table, const std::vector<std::string>& words) {
  return table.requests_help(words) || std::ranges::any_of(words, [](const std::string& word) {
           return word == "--show-config" || word == "--show_config";
         });
}

}  // namespace

int run_profile(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "train") return run_train_profile({arguments.begin() + 1, arguments.end()});
  const auto end = std::ranges::find(arguments, "--");
  const std::vector<std::string> words(arguments.begin(), end);
  ProfileFlags flags, any;
  const bool has_command = end != arguments.end();
  if (has_command) flags.command.command.assign(end + 1, arguments.end());
  const auto named = profile_form(words, has_command ? &flags.command.command : nullptr);
  OptionTable whole = whole_profile_table(any);
  if (!named || requests_settings(whole, words))
    if (const auto code = start_without_form(whole, any, words)) return *code;
  const ProfileForm form = named.value_or(ProfileForm::pipeline);
  OptionTable table = profile_table(form, flags);
  if (const auto code = start_command(table, words)) return *code;
  if (const auto fits = table.expect(profile_rules(form)); !fits) return complain(fits.error(), kUsage);
  if (form == ProfileForm::comparison) return run_comparison(flags);
  if (form == ProfileForm::import) return run_import(flags);
  if (!flags.files.empty()) return refuse(stray_text(flags.files[0]));
  if (form == ProfileForm::pipeline) return run_described(flags.pipeline);
  if (form == ProfileForm::program) return run_program(flags.command);
  return run_command(flags.command, flags.steps, flags.memory);
}

}  // namespace tutti
