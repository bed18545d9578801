#include "cli/batch/batch_control.h"

#include <sstream>

#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"

namespace tutti {
namespace {

std::string refusal(const std::string& why) {
  return json_line(nlohmann::json{{"error", why}});
}

const std::string kAccepted = R"({"ok":true})";

}  // namespace

std::string answer_control(BatchControl& control, const std::string& request) {
  std::istringstream words(request);
  std::string verb, what;
  words >> verb;
  std::getline(words >> std::ws, what);  // to the end of the line: a device's name may have spaces
  if (verb == "status" && what.empty()) return fleet_status_json(control.status());
  const std::string no_device = what.empty() ? "the batch is ending already" : "no device '" + what + "' in this run";
  if (verb == "drain") return control.drain(what) ? kAccepted : refusal(no_device);
  if (verb == "resume") return control.resume(what) ? kAccepted : refusal(no_device);
  const auto job = number_in<std::int64_t>(what);
  if (verb != "cancel" || !job)
    return refusal("'" + request + "': expected status, drain [DEVICE], resume [DEVICE] or cancel JOB");
  const auto cancelled = control.cancel(*job);
  return cancelled ? kAccepted : refusal(cancelled.error().text());
}

std::unique_ptr<ControlSocket> open_control_socket(BatchControl& control) {
  const auto folder = control_folder();
  auto socket =
      folder ? ControlSocket::open(*folder, "batch",
                                   [&control](const std::string& request) { return answer_control(control, request); })
             : tl::unexpected<Error>(folder.error());
  if (socket) return std::move(*socket);
  log(Level::warning, "the run cannot be watched from outside: " + socket.error().text());
  return nullptr;
}

}  // namespace tutti
