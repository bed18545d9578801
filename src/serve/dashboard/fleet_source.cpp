#include "serve/dashboard/fleet_source.h"

#include "base/json.h"
#include "link/control/control_socket.h"

namespace tutti {
namespace {

tl::unexpected<Error> no_such(const std::string& kind, const std::string& name) {
  return fail(Fault::missing, "there is no " + kind + " '" + name + "' here");
}

class ServiceFleet final : public FleetSource {
 public:
  explicit ServiceFleet(SpeechService& service) : service_(service) {}
  Result<std::optional<FleetStatus>> status() override { return service_.status(); }
  Result<void> drain(const std::string& device) override {
    if (!service_.drain(device)) return no_such("device", device);
    return {};
  }
  Result<void> resume(const std::string& device) override {
    if (!service_.resume(device)) return no_such("device", device);
    return {};
  }
  Result<void> cancel(const std::string& job) override {
    if (!service_.cancel(job)) return no_such("request", job);
    return {};
  }

 private:
  SpeechService& service_;
};

class BatchFleet final : public FleetSource {
 public:
  explicit BatchFleet(std::filesystem::path state) : state_(std::filesystem::absolute(state).lexically_normal()) {}

  Result<std::optional<FleetStatus>> status() override {
    auto found = find();
    if (!found) return std::nullopt;
    return std::optional(std::move(found->second));
  }
  Result<void> drain(const std::string& device) override { return request("drain " + device); }
  Result<void> resume(const std::string& device) override { return request("resume " + device); }
  Result<void> cancel(const std::string& job) override { return request("cancel " + job); }

 private:
  using Found = std::pair<std::filesystem::path, FleetStatus>;

  /// The latest batch on this store that answers.
  std::optional<Found> find() const {
    const auto folder = control_folder();
    if (!folder) return std::nullopt;
    for (const auto& socket : control_sockets(*folder)) {
      const auto answer = send_control_request(socket, "status");
      if (!answer) continue;
      auto status = read_fleet_status(*answer);
      if (status && std::filesystem::path(status->state_folder).lexically_normal() == state_)
        return Found{socket, std::move(*status)};
    }
    return std::nullopt;
  }

  Result<void> request(const std::string& line) const {
    const auto found = find();
    if (!found) return fail(Fault::missing, "no batch runs on this store");
    const auto answer = send_control_request(found->first, line);
    if (!answer) return tl::unexpected<Error>(answer.error());
    const auto json = nlohmann::json::parse(*answer, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("error")) return fail(Fault::missing, json["error"].dump());
    return {};
  }

  const std::filesystem::path state_;
};

}  // namespace

std::unique_ptr<FleetSource> fleet_of(SpeechService& service) {
  return std::make_unique<ServiceFleet>(service);
}

std::unique_ptr<FleetSource> fleet_of_batches(std::filesystem::path state) {
  return std::make_unique<BatchFleet>(std::move(state));
}

}  // namespace tutti
