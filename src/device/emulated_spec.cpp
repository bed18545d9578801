#include "device/emulated_spec.h"

#include <charconv>
#include <utility>

#include "base/strings.h"

namespace tutti {
namespace {

constexpr std::string_view kPrefix = "emulated:";

std::optional<double> positive_number(std::string_view text, double most) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value > 0) || value > most) return {};
  return value;
}

tl::unexpected<Error> not_figures(std::string_view text, std::string_view expected) {
  return fail(Fault::usage, "device '" + std::string(text) + "': expected " + std::string(expected),
              "A speed is in times real time (30x), memory in MB, GB, MiB or GiB (12GB)");
}

/// Fields between colons: one ends in x, one in a unit of memory.
std::optional<EmulatedSpec> figures(std::string_view fields) {
  EmulatedSpec spec;
  bool has_speed = false;
  while (true) {
    const auto colon = fields.find(':');
    const auto field = fields.substr(0, colon);
    const auto memory = parse_bytes(field);
    if (field.ends_with('x') && !has_speed) {
      const auto speed = positive_number(field.substr(0, field.size() - 1), 1e12);
      if (!speed) return {};
      spec.speed = *speed;
      has_speed = true;
    } else if (memory && !spec.memory) {
      spec.memory = memory;
    } else {
      return {};
    }
    if (colon == std::string_view::npos) break;
    fields.remove_prefix(colon + 1);
  }
  if (!has_speed) return {};
  return spec;
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  constexpr double kMost = 1e15;
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"gib", 1 << 30}, {"mib", 1 << 20}, {"kib", 1 << 10}, {"gb", 1e9}, {"mb", 1e6}, {"kb", 1e3}, {"b", 1}};
  const std::string lower = ascii_lower(text);
  for (const auto& [unit, size] : kUnits) {
    if (!lower.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto number = positive_number(text, kMost);
    if (!number || *number * size > kMost) return {};
    return Bytes{static_cast<std::int64_t>(*number * size)};
  }
  return {};
}

Result<EmulatedSpec> parse_emulated(std::string_view text) {
  const auto expected = "emulated:SPEED[:MEMORY][@GPU-uuid], such as emulated:30x:12GB";
  if (!text.starts_with(kPrefix)) return not_figures(text, expected);
  const auto at = text.find('@');
  const auto fields = text.substr(kPrefix.size(), at == std::string_view::npos ? at : at - kPrefix.size());
  auto spec = figures(fields);
  if (!spec) return not_figures(text, expected);
  if (at == std::string_view::npos) return *spec;
  spec->gpu = text.substr(at + 1);
  if (!spec->gpu.starts_with("GPU-") || spec->gpu.size() == 4) return not_figures(text, expected);
  return *spec;
}

Result<std::vector<EmulatedSpec>> parse_gpu_figures(std::string_view text) {
  std::vector<EmulatedSpec> specs;
  while (true) {
    const auto comma = text.find(',');
    const auto one = text.substr(0, comma);
    const auto spec = figures(one);
    if (!spec || !spec->memory) return not_figures(one, "MEMORY:SPEED, such as 12GB:30x");
    specs.push_back(*spec);
    if (comma == std::string_view::npos) return specs;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace tutti
