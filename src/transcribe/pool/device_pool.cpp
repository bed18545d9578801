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
    for (DeviceIndex device = 0; device < shared_->plan().devices.size(); ++device)
      monitors_.emplace_back([this, device] { monitor_device(*shared_, device); });
    timekeeper_ = std::jthread([this] { keep_time(); });
  }

  ~Pool() override { stop(WorkerHandle::kGrace); }

  Result<Ready> ready() override {
    auto pool = shared_->lock();
    const auto first = [&] {
      return std::ranges::find_if(pool->members, [](const auto& member) { return member.serving; });
    };
    pool->ready.wait(pool.held(), [&] { return pool->over || first() != pool->members.end(); });
    if (pool->over) return tl::unexpected<Error>(*pool->over);
    return *first()->ready;
  }

  void add_job(const PoolJob& job) override {
    const auto pool = shared_->lock();
    pool->dispatcher.add_job(job.id, job.facts(), pool->now());
  }

  void end_job(std::uint64_t job) override {
    const auto pool = shared_->lock();
    pool->end_job(job);
    pool->pump();
  }

  std::unique_ptr<JobEngine> engine(const PoolJob& job) override { return make_job_engine(shared_, job); }

  PoolView view() override {
    const auto pool = shared_->lock();
    return pool->view();
  }

  bool drain(const std::string& device) override { return apply_event(device, HealthEvent::drain); }
  bool resume(const std::string& device) override { return apply_event(device, HealthEvent::resume); }

  void report_driver_state(const std::string& device, const std::optional<DeviceFault>& fault) override {
    const auto pool = shared_->lock();
    for (DeviceIndex index = 0; index < pool->members.size(); ++index)
      if (pool->members[index].facts.id == device) on_driver_report(*pool, index, fault);
  }

  void others_use(const std::string& device, Bytes memory) override {
    const auto pool = shared_->lock();
    for (DeviceIndex index = 0; index < pool->members.size(); ++index)
      if (pool->members[index].facts.id == device) pool->dispatcher.device_memory(index, memory, pool->now());
    pool->pump();
  }

  void report_load(const std::string& device, const DeviceLoad& load) override {
    const auto pool = shared_->lock();
    for (DeviceIndex index = 0; index < pool->members.size(); ++index)
      if (pool->members[index].facts.id == device) pool->dispatcher.device_load(index, load, pool->now());
    pool->pump();
  }

  void host_short(const std::optional<std::string>& why) override {
    const auto pool = shared_->lock();
    pool->dispatcher.host_short(why, pool->now());
    pool->pump();
  }

  void held_back(std::optional<Idle> why) override {
    const auto pool = shared_->lock();
    pool->dispatcher.held_back(why, pool->now());
    pool->pump();
  }

  std::vector<PoolEvent> news() override {
    const auto pool = shared_->lock();
    std::vector<PoolEvent> events;
    for (DeviceIndex index = 0; index < pool->members.size(); ++index) {
      PoolMember& member = pool->members[index];
      const auto& changes = pool->dispatcher.health_changes(index);
      for (; member.changes_reported < changes.size(); ++member.changes_reported) {
        const HealthChange& change = changes[member.changes_reported];
        if (!change.reason.empty())
          events.push_back({member.facts.id, change.at, std::string(name_of(change.to)), change.reason});
      }
      const auto& memory = pool->dispatcher.memory_changes(index);
      for (; member.memory_reported < memory.size(); ++member.memory_reported) {
        const MemoryChange& change = memory[member.memory_reported];
        events.push_back(
            {member.facts.id, change.at, change.is_short ? "out_of_memory" : "memory_again", change.reason});
      }
      if (member.gone && !std::exchange(member.gone_reported, true))
        events.push_back({member.facts.id, pool->now(), "failed", member.gone->what});
    }
    std::ranges::stable_sort(events, {}, &PoolEvent::at);
    return events;
  }

  std::vector<FirstGrant> first_grants() override {
    const auto pool = shared_->lock();
    return std::exchange(pool->first_grants, {});
  }

  std::optional<Error> over() override {
    const auto pool = shared_->lock();
    return pool->over;
  }

  void stop(Seconds grace) override {
    const auto pool = shared_->lock();
    pool->stopping = true;
    pool->end({Fault::cancelled, "stopped"});
    for (const auto& member : pool->members)
      if (member.worker) member.worker->stop(grace);
  }

 private:
  void on_driver_report(PoolState& pool, DeviceIndex index, const std::optional<DeviceFault>& fault) {
    PoolMember& member = pool.members[index];
    if (!fault) member.overruled.clear();
    std::optional<HealthEvent> event;
    if (fault && fault->what != member.overruled) event = fault->lost ? HealthEvent::lost : HealthEvent::quarantine;
    if (member.fault_event == event) return;
    member.fault_event = event;
    member.was_away = true;
    if (event) {
      member.fault = fault->what;
      pool.lost(index, member.generation, {Fault::device, fault->what, ""}, Blame::lost);
      pool.dispatcher.device_event(index, *event, fault->what, pool.now());
    }
    member.changed.notify_all();
    pool.pump();
  }

  /// A driver remembers an Xid for as long as it is loaded: a user has to report that the GPU was reset.
  static void overrule(PoolMember& member) {
    if (member.fault_event != HealthEvent::quarantine) return;
    member.overruled = member.fault;
    member.fault_event.reset();
    member.changed.notify_all();
  }

  bool apply_event(const std::string& device, HealthEvent event) {
    const auto pool = shared_->lock();
    for (DeviceIndex index = 0; index < pool->members.size(); ++index) {
      if (pool->members[index].facts.id != device) continue;
      if (event == HealthEvent::resume) overrule(pool->members[index]);
      pool->dispatcher.device_event(index, event, "an operator's request", pool->now());
      pool->pump();
      return true;
    }
    return false;
  }

  /// Pumps again when a back-off or the patience is over.
  void keep_time() {
    auto pool = shared_->lock();
    while (!pool->over) {
      Seconds until = pool->served_at + pool->options.patience + Seconds(0.01);
      if (pool->anything_serves()) until = pool->now() + Seconds(60);
      if (const auto wake = pool->dispatcher.wake_at()) until = std::min(until, *wake);
      if (pool->time.wait_until(pool.held(), pool->instant(until)) == std::cv_status::timeout) pool->pump();
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
