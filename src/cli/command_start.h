#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "settings/option_table.h"
#include "transcribe/stop_signal.h"

namespace tutti {

/// Reads all settings of a command; answers --help and --show-config. A value is the exit code of a command that is
/// over.
std::optional<int> start_command(OptionTable& table, const std::vector<std::string>& arguments);

/// Prints the help of a command, or hands it to `help_page_of`. Returns the exit code.
int show_help(const HelpPage& page);

/// What the help of a command has: of the one that `run` runs with --help, which prints nothing.
HelpPage help_page_of(const std::function<int()>& run);

/// "tutti batch 'my talks' -o out": a command as it was typed, for the records; a shell would take it again. A very
/// long one is cut at its end: "… (812 more)".
std::string command_line(const std::string& command, const std::vector<std::string>& arguments);

/// Prints the error for people and returns the exit code. Where it names a flag whose value a variable or the settings
/// file gave, it names these instead.
int complain(const Error& error, int exit_code);

/// The same for what ended a command: kUsage where the command line is not valid, however late that was found (some of
/// it only a loaded model shows), else kNothingRan.
int complain(const Error& error);

/// The same, but kInterrupted where a signal was what ended it.
int complain(const Error& error, const StopSignal& stop);

}  // namespace tutti
