#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/settings/option_table.h"

namespace tutti {

/// Reads all settings of a command; answers --help and --show-config. A value is the exit code of a command that is
/// over.
std::optional<int> start_command(OptionTable& table, const std::vector<std::string>& arguments);

/// Prints the error for people and returns the exit code.
int complain(const Error& error, int exit_code);

}  // namespace tutti
