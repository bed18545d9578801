#include "cli/plan/durations.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

namespace tutti {
namespace {

using Json = nlohmann::json;

constexpr double kLongest = 1e7;  // seconds: nobody records four months at a time

/// A number, or text that is one: databases export numerics as text.
std::optional<double> length_in(const Json& value) {
  double seconds = -1;
  if (value.is_number()) seconds = value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || stop != text.data() + text.size()) return {};
  }
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kLongest) return {};
  return seconds;
}

tl::unexpected<Error> not_a_length(const std::string& where, const Json& value) {
  return fail(Fault::corrupt, where + ": expected a length in seconds, found " +
                                  value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<std::vector<double>> from_list(const Json& list, const std::string& where) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto length = length_in(list[i]);
    if (!length) return not_a_length(where + "[" + std::to_string(i) + "]", list[i]);
    seconds.push_back(*length);
  }
  return seconds;
}

Result<std::vector<double>> from_manifest(const Json& assets, const std::string& where) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < assets.size(); ++i) {
    const std::string here = where + "[" + std::to_string(i) + "]";
    const Json& asset = assets[i];
    if (!asset.is_object()) return fail(Fault::corrupt, here + ": expected an object");
    if (asset.value("asset_type", Json("Audio")) != "Audio") continue;
    const auto found = asset.find("media_duration_seconds");
    if (found == asset.end() || found->is_null())
      return fail(Fault::missing, here + ": says no media_duration_seconds",
                  "Plan from a list that does: a JSON list of seconds");
    const auto length = length_in(*found);
    if (!length) return not_a_length(here + ".media_duration_seconds", *found);
    seconds.push_back(*length);
  }
  return seconds;
}

}  // namespace

Result<std::vector<double>> read_durations(std::string_view json, const std::string& name) {
  const Json root = Json::parse(json, nullptr, false);
  Result<std::vector<double>> seconds = fail(
      Fault::corrupt, name + ": expected a JSON list of seconds, {\"durations_s\": [...]} or a manifest with assets");
  if (root.is_array()) seconds = from_list(root, name);
  if (root.is_object() && root.contains("durations_s") && root["durations_s"].is_array())
    seconds = from_list(root["durations_s"], name + ": durations_s");
  else if (root.is_object() && root.contains("assets") && root["assets"].is_array())
    seconds = from_manifest(root["assets"], name + ": assets");
  if (seconds && seconds->empty()) return fail(Fault::missing, name + ": no recordings in it");
  return seconds;
}

}  // namespace tutti
