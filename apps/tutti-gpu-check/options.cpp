#include "options.h"

#include <algorithm>
#include <functional>
#include <string_view>

#include "base/numbers.h"
#include "base/strings.h"
#include "model/compute_type.h"

namespace tutti {
namespace {

constexpr std::int32_t kMostSlots = 1024;
constexpr std::int32_t kMostBeams = 16;

/// A flag's value as read; empty: as expected, else what was expected.
using Reader = std::function<std::string(std::string_view value)>;

std::string expected_of(std::span<const char* const> names) {
  return joined(std::vector<std::string>(names.begin(), names.end()), ", ");
}

std::string read_name(std::string_view value, std::span<const char* const> names, std::string& into) {
  if (std::ranges::find(names, value) == names.end()) return "one of " + expected_of(names);
  into = value;
  return {};
}

std::string read_names(std::string_view value, std::span<const char* const> names, std::vector<std::string>& into) {
  for (const auto part : split(value, ',')) {
    if (auto expected = read_name(part, names, into.emplace_back()); !expected.empty()) return expected;
  }
  return {};
}

std::string read_types(std::string_view value, std::vector<std::string>& into) {
  for (const auto part : split(value, ',')) {
    const auto type = ComputeType::named(part);
    if (!type) return "compute types, for example float32,tf32,bfloat16,float16,int8_float16";
    into.emplace_back(type->name());
  }
  return {};
}

std::string read_slots(std::string_view value, std::vector<std::int32_t>& into) {
  for (const auto part : split(value, ',')) {
    const auto slots = number_in<std::int32_t>(part);
    if (!slots || *slots < 1 || *slots > kMostSlots) return "numbers from 1 to " + std::to_string(kMostSlots);
    into.push_back(*slots);
  }
  return {};
}

std::string read_seconds(std::string_view value, std::optional<Seconds>& into) {
  const auto seconds = number_in<double>(value);
  if (!seconds || !(*seconds > 0) || *seconds > 3600) return "seconds above 0 and up to 3600";
  into = Seconds(*seconds);
  return {};
}

std::string read_beams(std::string_view value, std::int32_t& into) {
  const auto beams = number_in<std::int32_t>(value);
  if (!beams || *beams < 1 || *beams > kMostBeams) return "a number from 1 to " + std::to_string(kMostBeams);
  into = *beams;
  return {};
}

Reader reader_of(std::string_view flag, CheckOptions& options) {
  if (flag == "--model") return [&](auto value) { return options.model = value, std::string(); };
  if (flag == "--check") return [&](auto value) { return read_name(value, kCheckNames, options.check); };
  if (flag == "--sizes") return [&](auto value) { return read_names(value, kSizeNames, options.sizes); };
  if (flag == "--types") return [&](auto value) { return read_types(value, options.types); };
  if (flag == "--slots") return [&](auto value) { return read_slots(value, options.slots); };
  if (flag == "--seconds") return [&](auto value) { return read_seconds(value, options.seconds); };
  if (flag == "--beams") return [&](auto value) { return read_beams(value, options.beams); };
  return {};
}

bool* switch_of(std::string_view flag, CheckOptions& options) {
  if (flag == "--help" || flag == "-h") return &options.help;
  if (flag == "--json") return &options.json;
  if (flag == "--all") return &options.all;
  if (flag == "--cpu") return &options.cpu;
  return nullptr;
}

}  // namespace

Result<CheckOptions> read_check_options(std::span<char*> arguments) {
  CheckOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = arguments[i];
    if (auto* on = switch_of(flag, options)) {
      *on = true;
      continue;
    }
    const auto read = reader_of(flag, options);
    if (!read) return fail(Fault::usage, "unknown argument '" + flag + "'", "--help lists the flags");
    if (++i == arguments.size()) return fail(Fault::usage, flag + " needs a value", "--help lists the flags");
    if (const auto expected = read(arguments[i]); !expected.empty())
      return fail(Fault::usage, flag + ": expected " + expected + ", found '" + arguments[i] + "'");
  }
  return options;
}

}  // namespace tutti
