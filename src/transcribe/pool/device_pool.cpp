#include "transcribe/pool/device_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "transcribe/pool/pool_state.h"

namespace tutti {
namespace {

class Pool final : public DevicePool {
 public:
  explicit Pool(PoolPlan options) : shared_(std::make_shared<PoolShared>(std::move(options))) {
    for (DeviceIndex device = 0; device < shared_->members.size(); ++device)
      monitors_.emplace_back([this, device] { monitor_device(*shared_, device); });
    timekeeper_ = std::jthread([this] { keep_time(); });
  }

  ~Pool() override { stop(WorkerHandle::kGrace); }

  Result<Ready> ready() override {
    PoolShared::Lock lock(shared_->mutex);
    const auto first = [&] {
      return std::ranges::find_if(shared_->members, [](const auto& member) { return member.serving; });
    };
    shared_->ready.wait(lock, [&] { return shared_->over || first() != shared_->members.end(); });
    if (shared_->over) return tl::unexpected<Error>(*shared_->over);
    return *first()->ready;
  }

  void add_job(const PoolJob& job) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->dispatcher.add_job(job.id, job.facts(), shared_->now());
  }

  void end_job(std::uint64_t job) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->end_job(lock, job);
    shared_->pump(lock);
  }

  std::unique_ptr<JobEngine> engine(const PoolJob& job) override { return make_job_engine(shared_, job); }

  PoolView view() override {
    PoolShared::Lock lock(shared_->mutex);
    return shared_->view(lock);
  }

  bool drain(const std::string& device) override { return apply_event(device, HealthEvent::drain); }
  bool resume(const std::string& device) override { return apply_event(device, HealthEvent::resume); }

  void report_driver_state(const std::string& device, const std::optional<DeviceFault>& fault) override {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index)
      if (shared_->members[index].facts.id == device) on_driver_report(lock, index, fault);
  }

  void others_use(const std::string& device, Bytes memory) override {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index)
      if (shared_->members[index].facts.id == device) shared_->dispatcher.device_memory(index, memory, shared_->now());
    shared_->pump(lock);
  }

  void report_load(const std::string& device, const DeviceLoad& load) override {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index)
      if (shared_->members[index].facts.id == device) shared_->dispatcher.device_load(index, load, shared_->now());
    shared_->pump(lock);
  }

  void host_short(const std::optional<std::string>& why) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->dispatcher.host_short(why, shared_->now());
    shared_->pump(lock);
  }

  void held_back(std::optional<Idle> why) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->dispatcher.held_back(why, shared_->now());
    shared_->pump(lock);
  }

  std::vector<PoolEvent> news() override {
    PoolShared::Lock lock(shared_->mutex);
    std::vector<PoolEvent> events;
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index) {
      PoolMember& member = shared_->members[index];
      const auto& changes = shared_->dispatcher.health_changes(index);
      for (; member.changes_reported < changes.size(); ++member.changes_reported) {
        const HealthChange& change = changes[member.changes_reported];
        if (!change.reason.empty())
          events.push_back({member.facts.id, change.at, std::string(name_of(change.to)), change.reason});
      }
      const auto& memory = shared_->dispatcher.memory_changes(index);
      for (; member.memory_reported < memory.size(); ++member.memory_reported) {
        const MemoryChange& change = memory[member.memory_reported];
        events.push_back(
            {member.facts.id, change.at, change.is_short ? "out_of_memory" : "memory_again", change.reason});
      }
      if (member.gone && !std::exchange(member.gone_reported, true))
        events.push_back({member.facts.id, shared_->now(), "failed", member.gone->what});
    }
    std::ranges::stable_sort(events, {}, &PoolEvent::at);
    return events;
  }

  std::vector<FirstGrant> first_grants() override {
    PoolShared::Lock lock(shared_->mutex);
    return std::exchange(shared_->first_grants, {});
  }

  std::optional<Error> over() override {
    PoolShared::Lock lock(shared_->mutex);
    return shared_->over;
  }

  void stop(Seconds grace) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->end(lock, {Fault::cancelled, "stopped"});
    for (const auto& member : shared_->members)
      if (member.worker) member.worker->stop(grace);
  }

 private:
  void on_driver_report(const PoolShared::Lock& lock, DeviceIndex index, const std::optional<DeviceFault>& fault) {
    PoolMember& member = shared_->members[index];
    if (!fault) member.overruled.clear();
    std::optional<HealthEvent> event;
    if (fault && fault->what != member.overruled) event = fault->lost ? HealthEvent::lost : HealthEvent::quarantine;
    if (member.fault_event == event) return;
    member.fault_event = event;
    member.was_away = true;
    if (event) {
      member.fault = fault->what;
      shared_->lost(lock, index, member.generation, {Fault::device, fault->what, ""}, Blame::lost);
      shared_->dispatcher.device_event(index, *event, fault->what, shared_->now());
    }
    member.changed.notify_all();
    shared_->pump(lock);
  }

  /// A driver remembers an Xid for as long as it is loaded: a user has to report that the GPU was reset.
  static void overrule(PoolMember& member) {
    if (member.fault_event != HealthEvent::quarantine) return;
    member.overruled = member.fault;
    member.fault_event.reset();
    member.changed.notify_all();
  }

  bool apply_event(const std::string& device, HealthEvent event) {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index) {
      if (shared_->members[index].facts.id != device) continue;
      if (event == HealthEvent::resume) overrule(shared_->members[index]);
      shared_->dispatcher.device_event(index, event, "an operator's request", shared_->now());
      shared_->pump(lock);
      return true;
    }
    return false;
  }

  /// Pumps again when a back-off or the patience is over.
  void keep_time() {
    PoolShared::Lock lock(shared_->mutex);
    while (!shared_->over) {
      Seconds until = shared_->served_at + shared_->options.patience + Seconds(0.01);
      if (shared_->anything_serves(lock)) until = shared_->now() + Seconds(60);
      if (const auto wake = shared_->dispatcher.wake_at()) until = std::min(until, *wake);
      if (shared_->time.wait_until(lock, shared_->instant(until)) == std::cv_status::timeout) shared_->pump(lock);
    }
  }

  const std::shared_ptr<PoolShared> shared_;
  std::vector<std::jthread> monitors_{};  // they go before what they share
  std::jthread timekeeper_{};
};

}  // namespace

std::unique_ptr<DevicePool> DevicePool::start(PoolPlan options) {
  return std::make_unique<Pool>(std::move(options));
}

}  // namespace tutti
