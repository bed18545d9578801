#include "cli/batch/report_json.h"

#include <nlohmann/json.hpp>

#include "view/text.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecondsAnHour = 3600;

double rounded(double value) {
  return std::round(value * 1e6) / 1e6;
}

std::optional<double> cost_of(const BatchReport& report, std::optional<double> price) {
  if (!price) return {};
  return *price * static_cast<double>(report.pool.devices.size()) * report.elapsed.count() / kSecondsAnHour;
}

Json device_json(const PooledDeviceView& device, const BatchReport& report, std::optional<double> price) {
  Json idle = Json::object();
  for (const auto& [reason, time] : device.idle) idle[reason] = rounded(time.count());
  Json json{{"id", device.id},
            {"name", device.name},
            {"state", device.state},
            {"busy_share", report.elapsed > Seconds(0) ? rounded(device.busy / report.elapsed) : 0.0},
            {"audio_seconds", rounded(device.audio_done.count())},
            {"speed", rounded(device.speed)},
            {"restarts", device.restarts},
            {"idle", std::move(idle)}};
  if (price) json["cost"] = rounded(*price * report.elapsed.count() / kSecondsAnHour);
  return json;
}

}  // namespace

std::string batch_report_json(const BatchReport& report, std::optional<double> price) {
  Json json{{"total", report.counts.total},
            {"successful", report.counts.done},
            {"failed", report.counts.failed},
            {"cancelled", report.counts.cancelled},
            {"done_in_this_run", report.done_now},
            {"duration_seconds", rounded(report.elapsed.count())},
            {"audio_seconds", rounded(report.audio.count())}};
  if (report.time != 1) json["time_scale"] = report.time;
  if (const auto cost = cost_of(report, price)) {
    json["cost"] = rounded(*cost);
    json["price_per_device_hour"] = *price;
    if (report.audio > Seconds(0))
      json["cost_per_audio_hour"] = rounded(*cost / (report.audio.count() / kSecondsAnHour));
  }
  if (!report.ended_early.empty()) json["ended_early"] = report.ended_early;
  json["interrupted"] = report.interrupted;
  json["devices"] = Json::array();
  for (const auto& device : report.pool.devices) json["devices"].push_back(device_json(device, report, price));
  json["assets"] = Json::array();
  for (const auto& asset : report.assets)
    json["assets"].push_back({{"uuid", asset.uuid},
                              {"name", asset.name},
                              {"status", asset.status},
                              {"error", asset.error},
                              {"device", asset.device},
                              {"attempts", asset.attempts},
                              {"audio_seconds", rounded(asset.audio.count())}});
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string batch_report_text(const BatchReport& report, std::optional<double> price) {
  std::string out = std::to_string(report.counts.done) + " of " + std::to_string(report.counts.total) + " done";
  if (report.counts.done > report.done_now)
    out += " (" + std::to_string(report.counts.done - report.done_now) + " of them before)";
  if (report.counts.failed > 0) out += ", " + std::to_string(report.counts.failed) + " failed";
  if (report.counts.cancelled > 0) out += ", " + std::to_string(report.counts.cancelled) + " cancelled";
  out += ": " + length_text(report.audio) + " of audio in " + short_number(report.elapsed.count()) + " s";
  if (report.elapsed > Seconds(0)) out += ", " + short_number(report.audio / report.elapsed) + " × real time";
  if (const auto cost = cost_of(report, price)) out += ", cost " + short_number(*cost);
  return out + "\n";
}

}  // namespace tutti
