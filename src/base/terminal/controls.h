#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// `utf8` with a space for every control character. Names come from files, and text comes from a model: what moves the
/// cursor or begins a line must not reach the terminal or the log.
std::string without_controls(std::string_view utf8);

}  // namespace tutti
