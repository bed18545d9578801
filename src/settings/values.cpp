#include "settings/values.h"

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

tl::unexpected<Error> not_a(std::string_view kind, std::string_view text) {
  return fail(Fault::usage, "expected " + std::string(kind) + ", found '" + std::string(text) + "'");
}

template <class T>
Result<void> read_number(std::string_view text, T& into, std::string_view kind) {
  const auto value = number_in<T>(text);
  if (!value) return not_a(kind, text);
  into = *value;
  return {};
}

template <class T>
Result<void> read_list(std::string_view whole, std::vector<T>& into, std::string_view kind) {
  std::vector<T> values;
  for (std::string_view item : split(whole, ',')) {
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    T value{};
    if (!read_value(item, value)) return not_a(kind, whole);
    values.push_back(value);
  }
  into = std::move(values);
  return {};
}

template <class T>
std::string show_list(const std::vector<T>& values) {
  return joined(values, ",", [](const T& value) { return show_value(value); });
}

}  // namespace

std::string with_hyphens(std::string name) {
  std::ranges::replace(name, '_', '-');
  return name;
}

bool is_none(std::string_view text) {
  return ascii_lower(text) == "none";
}

tl::unexpected<Error> or_none(Error error) {
  if (const auto found = error.what.find(", found "); found != error.what.npos) error.what.insert(found, ", or None");
  return tl::unexpected<Error>(std::move(error));
}

Result<void> read_value(std::string_view text, bool& into) {
  const std::string word = ascii_lower(text);
  if (word != "true" && word != "false") return not_a("True or False", text);
  into = word == "true";
  return {};
}

Result<void> read_value(std::string_view text, std::int32_t& into) {
  return read_number(text, into, "a whole number");
}

Result<void> read_value(std::string_view text, std::uint64_t& into) {
  return read_number(text, into, "a whole number, not negative");
}

Result<void> read_value(std::string_view text, double& into) {
  double value = 0;
  if (!read_number(text, value, "a number") || !std::isfinite(value)) return not_a("a number", text);
  into = value;
  return {};
}

Result<void> read_value(std::string_view text, std::string& into) {
  into = text;
  return {};
}

Result<void> read_value(std::string_view text, std::filesystem::path& into) {
  if (text.empty()) return fail(Fault::usage, "expected a path, found nothing");
  into = std::filesystem::path(text);
  return {};
}

Result<void> read_value(std::string_view text, std::vector<double>& into) {
  return read_list(text, into, "numbers separated by commas");
}

Result<void> read_value(std::string_view text, std::vector<std::int32_t>& into) {
  return read_list(text, into, "whole numbers separated by commas");
}

std::string show_value(bool value) {
  return value ? "True" : "False";
}
std::string show_value(std::int32_t value) {
  return std::to_string(value);
}
std::string show_value(std::uint64_t value) {
  return std::to_string(value);
}

std::string show_value(double value) {
  return number_text(value);
}

std::string show_value(const std::string& value) {
  return value;
}
std::string show_value(const std::filesystem::path& value) {
  return value.string();
}
std::string show_value(const std::vector<double>& values) {
  return show_list(values);
}
std::string show_value(const std::vector<std::int32_t>& values) {
  return show_list(values);
}

}  // namespace tutti
