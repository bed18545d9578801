#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "cli/control/requests.h"
#include "cli/control/runtime_folder.h"
#include "cli/top/machine_view.h"
#include "cli/top/source.h"
#include "device/telemetry/sampler.h"

namespace tutti {
namespace {

/// The latest batch that answers; where none does (any more), the machine. Looks for one anew at every look, so that
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

  Result<std::string> act(const TopWish& wish) override {
    if (socket_.empty()) return fail(Fault::usage, "no batch is running here: there is nothing to drain or cancel");
    return ask_wish(socket_, wish);
  }

 private:
  static constexpr Seconds kFirstReadings{2.5};  // loads are rates: they need two samples

  /// The status of the batch that was seen last, else of the latest that answers.
  bool run_or_none() {
    run_.reset();
    auto sockets = control_sockets();
    if (!socket_.empty()) sockets.insert(sockets.begin(), socket_);
    for (const auto& socket : sockets)
      if (auto status = ask_status(socket)) {
        run_ = std::move(*status);
        socket_ = socket;
        return true;
      }
    return false;
  }

  /// "Ours" in loads and memory is the batch's process tree.
  void watch_tree_of(const std::filesystem::path& socket) {
    if (sampler_ && watched_ == socket) return;
    const std::string name = socket.stem().string();  // batch-PID
    SamplerOptions options;
    if (const int pid = std::atoi(name.c_str() + std::min(name.size(), name.find('-') + 1)); pid > 0)
      options.own_root = pid;
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
