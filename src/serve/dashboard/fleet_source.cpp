#include "serve/dashboard/fleet_source.h"

#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "link/control/control_socket.h"
#include "transcribe/batch/batch_status.h"

namespace tutti {
namespace {

tl::unexpected<Error> no_such(const std::string& kind, const std::string& name) {
  return fail(Fault::missing, "there is no " + kind + " '" + name + "' here");
}

Result<void> changed(const Result<std::size_t>& count, JobId job) {
  TRY(count);
  if (*count == 0) return fail(Fault::missing, "job " + std::to_string(job) + " is not there, or in no state for that");
  return {};
}

tl::unexpected<Error> set_by_batch(JobId job) {
  return fail(Fault::missing, "job " + std::to_string(job) + " is of a batch: the next run of its command may set it");
}

class ServiceFleet final : public FleetSource {
 public:
  ServiceFleet(ServiceControl& service, JobService& jobs, LiveSessions& live)
      : service_(service), jobs_(jobs), live_(live) {}
  Result<std::optional<FleetStatus>> status() override {
    FleetStatus status = service_.status();
    for (LiveStreamStatus& stream : live_.status())
      status.in_work.push_back(
          {.id = stream.id, .name = "live audio", .done = stream.taken, .client = std::move(stream.client)});
    return std::optional(std::move(status));
  }
  Result<void> drain(const std::string& device) override {
    if (!service_.drain(device)) return no_such("device", device);
    return {};
  }
  Result<void> resume(const std::string& device) override {
    if (!service_.resume(device)) return no_such("device", device);
    return {};
  }
  Result<void> cancel(const std::string& job) override {
    if (const auto id = number_in<JobId>(job)) return jobs_.cancel_any(*id);
    if (!live_.finish(job) && !service_.cancel(job)) return no_such("request", job);
    return {};
  }
  Result<void> retry(JobId job) override { return jobs_.retry_any(job); }
  Result<void> set_priority(JobId job, int priority) override { return jobs_.set_priority(job, priority); }

 private:
  ServiceControl& service_;
  JobService& jobs_;
  LiveSessions& live_;
};

class BatchFleet final : public FleetSource {
 public:
  BatchFleet(const std::filesystem::path& state, JobAdmin& store)
      : state_(std::filesystem::absolute(state).lexically_normal()), store_(store) {}

  Result<std::optional<FleetStatus>> status() override {
    auto found = find();
    if (!found) return std::nullopt;
    return std::optional(std::move(found->second));
  }
  Result<void> drain(const std::string& device) override { return request("drain " + device); }
  Result<void> resume(const std::string& device) override { return request("resume " + device); }
  Result<void> cancel(const std::string& job) override {
    if (request("cancel " + job)) return {};
    const auto id = number_in<JobId>(job);
    if (!id) return no_such("job", job);
    return changed(store_.cancel({.ids = {*id}}), *id);
  }
  Result<void> retry(JobId job) override { return changed(store_.retry({.ids = {job}}), job); }
  Result<void> set_priority(JobId job, int) override { return set_by_batch(job); }

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
    const auto answer = TRY(send_control_request(found->first, line));
    const auto json = nlohmann::json::parse(answer, nullptr, /*allow_exceptions=*/false);
    if (json.is_object() && json.contains("error")) return fail(Fault::missing, json["error"].dump());
    return {};
  }

  const std::filesystem::path state_;
  JobAdmin& store_;
};

class ServerFleet final : public FleetSource {
 public:
  ServerFleet(StoreUrl url, JobStore& store) : url_(std::move(url)), store_(store) {}

  Result<std::optional<FleetStatus>> status() override {
    auto status = TRY(fleet_of_store(store_, url_));
    return std::optional(std::move(status));
  }
  Result<void> drain(const std::string& device) override { return elsewhere(device); }
  Result<void> resume(const std::string& device) override { return elsewhere(device); }
  Result<void> cancel(const std::string& job) override {
    const auto id = number_in<JobId>(job);
    if (!id) return no_such("job", job);
    return changed(store_.cancel({.ids = {*id}}), *id);
  }
  Result<void> retry(JobId job) override { return changed(store_.retry({.ids = {job}}), job); }
  Result<void> set_priority(JobId job, int) override { return set_by_batch(job); }

 private:
  static Result<void> elsewhere(const std::string& device) {
    return fail(Fault::missing, "device '" + device + "' is steered on its own machine, by tutti top there");
  }

  const StoreUrl url_;
  JobStore& store_;
};

}  // namespace

std::unique_ptr<FleetSource> fleet_of(ServiceControl& service, JobService& jobs, LiveSessions& live) {
  return std::make_unique<ServiceFleet>(service, jobs, live);
}

std::unique_ptr<FleetSource> fleet_of_batches(std::filesystem::path state, JobAdmin& store) {
  return std::make_unique<BatchFleet>(std::move(state), store);
}

std::unique_ptr<FleetSource> fleet_of_server(StoreUrl url, JobStore& store) {
  return std::make_unique<ServerFleet>(std::move(url), store);
}

}  // namespace tutti
