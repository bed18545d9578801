#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

// How option values are read from text and shown again. Python's spellings are understood, because people paste their
// openai-whisper commands: True, False and None in any case. `read_value` leaves `into` untouched on error; the error
// names what was expected and found, and the caller adds the option's name.

Result<void> read_value(std::string_view text, bool& into);
Result<void> read_value(std::string_view text, std::int32_t& into);
Result<void> read_value(std::string_view text, std::uint64_t& into);
Result<void> read_value(std::string_view text, double& into);
Result<void> read_value(std::string_view text, std::string& into);
Result<void> read_value(std::string_view text, std::filesystem::path& into);
/// Comma-separated.
Result<void> read_value(std::string_view text, std::vector<double>& into);
Result<void> read_value(std::string_view text, std::vector<std::int32_t>& into);

std::string show_value(bool value);
std::string show_value(std::int32_t value);
std::string show_value(std::uint64_t value);
std::string show_value(double value);
std::string show_value(const std::string& value);
std::string show_value(const std::filesystem::path& value);
std::string show_value(const std::vector<double>& values);
std::string show_value(const std::vector<std::int32_t>& values);

/// A flag's name: output_dir and output-dir are one.
std::string with_hyphens(std::string name);
/// "None", in any case.
bool is_none(std::string_view text);
/// A complaint of `read_value` about a value that may be None as well.
tl::unexpected<Error> or_none(Error error);

template <class T>
Result<void> read_value(std::string_view text, std::optional<T>& into) {
  if (is_none(text)) {
    into.reset();
    return {};
  }
  T value{};
  if (auto read = read_value(text, value); !read) return or_none(std::move(read.error()));
  into = std::move(value);
  return {};
}

template <class T>
std::string show_value(const std::optional<T>& value) {
  return value ? show_value(*value) : "None";
}

}  // namespace tutti
