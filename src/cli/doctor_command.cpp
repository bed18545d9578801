#include "cli/doctor_command.h"

#include <cstdio>

#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/version.h"

namespace tutti {

int run_doctor(const std::vector<std::string>& arguments) {
  OptionTable table("doctor", "Say what this machine has, what is missing, and what to do about it.");
  if (const auto code = start_command(table, arguments)) return *code;
  return print_versions();
}

}  // namespace tutti
