#include "cli/control/requests.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/control/control_server.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

std::string refused(const std::string& why) {
  return Json{{"ok", false}, {"error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string said(const std::string& what) {
  return Json{{"ok", true}, {"said", what}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const Json& request, const char* name) {
  return request.contains(name) && request[name].is_string() ? request[name].get<std::string>() : std::string();
}

std::string steer(BatchControl& batch, const std::string& device, bool drain) {
  const bool known = drain ? batch.drain(device) : batch.resume(device);
  if (!known) return refused(device + ": the batch has no such device");
  const std::string what = device.empty() ? "the batch" : device;
  return said(what + (drain ? " finishes what it has and takes nothing new" : " takes work again"));
}

std::string cancel(BatchControl& batch, const std::string& task) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(task.data(), task.data() + task.size(), id);
  if (error != std::errc() || end != task.data() + task.size())
    return refused("task '" + task + "': expected the number of a task");
  batch.cancel(id);
  return said("task " + task + " is being cancelled");
}

/// The answer's object; what went wrong as an error.
Result<Json> answered(const std::filesystem::path& socket, const Json& request) {
  const auto line = ask_control(socket, request.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!line) return tl::unexpected(line.error());
  Json answer = Json::parse(*line, nullptr, false);
  if (!answer.is_object()) return fail(Fault::corrupt, socket.string() + ": expected a JSON object as answer");
  if (!answer.value("ok", false)) return fail(Fault::usage, text_of(answer, "error"));
  return answer;
}

}  // namespace

std::string answer_request(std::string_view line, BatchControl* batch) {
  const Json request = Json::parse(line, nullptr, false);
  if (!request.is_object()) return refused("expected one JSON object in a line");
  if (!batch) return refused("the batch is starting or ending");
  const std::string what = text_of(request, "do");
  if (what == "status") return "{\"ok\":true,\"status\":" + fleet_status_json(batch->status()) + "}";
  if (what == "drain" || what == "resume") return steer(*batch, text_of(request, "device"), what == "drain");
  if (what == "cancel") return cancel(*batch, text_of(request, "task"));
  return refused("'" + what + "': expected status, drain, resume or cancel");
}

Result<FleetStatus> ask_status(const std::filesystem::path& socket) {
  const auto answer = answered(socket, {{"do", "status"}});
  if (!answer) return tl::unexpected(answer.error());
  return read_fleet_status(answer->contains("status") ? (*answer)["status"].dump() : "");
}

Result<std::string> ask_wish(const std::filesystem::path& socket, const TopWish& wish) {
  Json request;
  switch (wish.what) {
    case TopWish::What::drain: request = {{"do", "drain"}, {"device", wish.id}}; break;
    case TopWish::What::resume: request = {{"do", "resume"}, {"device", wish.id}}; break;
    case TopWish::What::cancel: request = {{"do", "cancel"}, {"task", wish.id}}; break;
  }
  const auto answer = answered(socket, request);
  if (!answer) return tl::unexpected(answer.error());
  return text_of(*answer, "said");
}

}  // namespace tutti
