#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace tutti {

/// An environment variable that is set, and not to nothing.
std::optional<std::string> variable(const char* name);

/// The whole number in one. Fault::usage where it is not set, no number, or below `least`.
Result<int> number_variable(const char* name, int least);

/// How much a field note's program is to say.
enum class LogDetail { debug, info, warning, error };

/// What the variable of a field note's program requests: DEBUG, INFO, WARNING or ERROR, in any case; info where it is
/// not set. Fault::usage for another word.
Result<LogDetail> log_level_variable(const char* name);

/// The user's home: $HOME, else the folder from the user database, else /tmp.
std::filesystem::path home_folder();

/// The value of the variable `xdg`, else `below_home` of the user's home.
std::filesystem::path xdg_home(const char* xdg, const std::filesystem::path& below_home);

/// Tutti's own folder of some kind: the value of the variable `own`, else "tutti" in that of `xdg`, else "tutti" in
/// `below_home` of the user's home.
std::filesystem::path xdg_folder(const char* own, const char* xdg, const std::filesystem::path& below_home);

}  // namespace tutti
