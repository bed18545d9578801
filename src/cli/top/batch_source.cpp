#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/top/machine_view.h"
#include "cli/top/source.h"
#include "device/machine.h"
#include "device/telemetry/sampler.h"
#include "jobs/local_disk.h"
#include "jobs/open_store.h"
#include "link/control/control_socket.h"

namespace tutti {
namespace {

std::string request_of(const TopAction& action) {
  switch (action.what) {
    case TopAction::What::drain: return "drain " + action.id;
    case TopAction::What::resume: return "resume " + action.id;
    case TopAction::What::cancel: return "cancel " + action.id;
  }
  return {};
}

std::string done_text(const TopAction& action) {
  switch (action.what) {
    case TopAction::What::drain: return action.name + " finishes what it has and takes nothing new";
    case TopAction::What::resume: return action.name + " takes work again";
    case TopAction::What::cancel: return action.name + " is being cancelled";
  }
  return {};
}

/// Where recordings are decoded to, results are recorded, and a batch's outputs go. Shares of other machines are left
/// out: one that is away would hold up a query of how full it is.
std::vector<std::filesystem::path> watched_disks(const FleetStatus& run) {
  std::vector<std::filesystem::path> paths{temporary_folder(), run.state_folder};
  if (run.state_folder.empty()) paths.back() = state_folder();
  if (std::filesystem::path(run.run).is_absolute()) paths.emplace_back(run.run);
  auto disks = disks_of(paths);
  std::erase_if(disks, [](const auto& disk) { return network_file_system(disk).has_value(); });
  return disks;
}

/// The latest batch that answers; where none does (any more), the machine. Looks for one again at every look, so that
/// `tutti top` may be left open between batches.
class Source final : public TopSource {
 public:
  Result<TopData> look() override {
    if (!run_or_none()) socket_.clear();
    watch_tree_of(socket_);
    const auto machine = sampler_->latest();
    const auto now = Clock::real().now();
    if (!run_) return machine_view(*machine, now);
    TopData data{.title = "batch " + run_->run, .run = run_, .devices = run_->devices};
    add_telemetry(data, *machine, now);
    data.run->devices = data.devices;
    return data;
  }

  Result<std::string> act(const TopAction& action) override {
    if (socket_.empty()) return fail(Fault::usage, "no batch is running here: there is nothing to drain or cancel");
    const auto answer = send_control_request(socket_, request_of(action));
    if (!answer) return tl::unexpected(answer.error());
    const auto document = nlohmann::json::parse(*answer, nullptr, false);
    const auto field = [&](const char* name) {
      return document.is_object() ? document.value(name, nlohmann::json()) : nlohmann::json();
    };
    if (field("ok") == true) return done_text(action);
    const auto error = field("error");
    return fail(Fault::usage, error.is_string() ? error.get<std::string>() : *answer);
  }

 private:
  static constexpr Seconds kPatience{1};         // a batch that is busy still shows
  static constexpr Seconds kFirstReadings{2.5};  // loads are rates: they need two samples

  /// The status of the batch that was seen last, else of the latest that answers.
  bool run_or_none() {
    run_.reset();
    if (!socket_.empty() && poll(socket_)) return true;
    const auto folder = control_folder();
    for (const auto& socket : folder ? control_sockets(*folder) : std::vector<std::filesystem::path>())
      if (poll(socket)) return true;
    return false;
  }

  bool poll(const std::filesystem::path& socket) {
    const auto answer = send_control_request(socket, "status", kPatience);
    auto status = answer ? read_fleet_status(*answer) : tl::unexpected<Error>(answer.error());
    if (!status) return false;
    run_ = std::move(*status);
    socket_ = socket;
    return true;
  }

  /// "Ours" in loads and memory is the batch's process tree.
  void watch_tree_of(const std::filesystem::path& socket) {
    if (sampler_ && watched_ == socket) return;
    const std::string name = socket.stem().string();  // batch-PID
    SamplerOptions options;
    if (const int pid = std::atoi(name.c_str() + std::min(name.size(), name.find('-') + 1)); pid > 0)
      options.own_root = pid;
    options.disks = watched_disks(run_.value_or(FleetStatus{}));
    sampler_ = std::make_unique<Sampler>(std::move(options));
    (void)sampler_->settled(kFirstReadings);
    watched_ = socket;
  }

  std::filesystem::path socket_;
  std::optional<FleetStatus> run_;
  std::unique_ptr<Sampler> sampler_;
  std::filesystem::path watched_;
};

}  // namespace

std::unique_ptr<TopSource> top_source() {
  return std::make_unique<Source>();
}

}  // namespace tutti
