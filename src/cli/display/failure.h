#pragma once

#include <filesystem>
#include <string>

#include "audio/recording.h"
#include "base/error.h"

namespace tutti {

/// One line for a file that failed; its name comes first, once, whether or not the error brought it.
inline std::string failure_line(const std::filesystem::path& input, const Error& error) {
  const std::string name = name_of_input(input);
  return error.what.starts_with(name) ? error.text() : name + ": " + error.text();
}

}  // namespace tutti
