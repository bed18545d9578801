#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/profile/pipeline_command.h"
#include "profile/command/command_run.h"
#include "settings/option_table.h"
#include "traces/traced_device.h"

namespace tutti {

/// How `tutti profile` can be called. Each form reads flags of its own, and `tutti profile train` is a command line of
/// its own.
enum class ProfileForm {
  command,     ///< tutti profile -- tutti COMMAND
  program,     ///< tutti profile -- PROGRAM, any other, seen from outside
  pipeline,    ///< tutti profile --pipeline FILE.toml
  comparison,  ///< tutti profile --compare BEFORE.json AFTER.json
  import       ///< tutti profile --import TRACE...
};

/// What the flags of all forms are read into.
struct ProfileFlags {
  CommandProfile command{};  // of a program, too
  std::int32_t steps = 0;
  std::string memory{};
  PipelineCommand pipeline{};
  bool compare = false;
  bool import = false;
  TraceOptions trace{};
  std::vector<std::string> files{};  // of a comparison and an import
  bool json = false;                 // of these
};

/// The form that a command line names; none: it names none. `words`: those before "--"; `command`: those behind it,
/// null where there is no "--".
std::optional<ProfileForm> profile_form(std::span<const std::string> words, const std::vector<std::string>* command);

/// The flags of one form: those of the others are refused with the names of these.
OptionTable profile_table(ProfileForm form, ProfileFlags& flags);

/// The flags of all forms, as the help has them.
OptionTable whole_profile_table(ProfileFlags& flags);

/// How the flags of a form go together.
std::span<const OptionRule> profile_rules(ProfileForm form);

}  // namespace tutti
