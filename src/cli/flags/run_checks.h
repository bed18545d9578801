#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace tutti {

/// What --device, --threads and --files-at-once say.
struct MachineFlags {
  std::string device{};
  std::int32_t threads = 0;
  std::int32_t files_at_once = 0;
};

/// Checks that there may be so many threads; 0: a number that others decide.
Result<void> check_thread_count(const char* flag, std::int32_t count);

/// Checks that the flags are valid, each by itself and together; not whether this machine has the device.
Result<void> check_machine(const MachineFlags& flags);

/// The code of the language that --language names: a code, an English name, or a tag such as zh-CN.
Result<std::string> language_code_of(const std::string& language);

/// The value of --language in the form that a transcript depends on: none for "auto", the code for a tag (zh-CN), else
/// as it is, because a transcript's JSON repeats a name as it was given.
std::optional<std::string> plain_language(const std::optional<std::string>& language);

}  // namespace tutti
