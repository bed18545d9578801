#include "transcribe/pool/device_pool.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "transcribe/pool/pool_state.h"

namespace tutti {
namespace {

class Pool final : public DevicePool {
 public:
  explicit Pool(PoolOptions options) : shared_(std::make_shared<PoolShared>(std::move(options))) {
    for (DeviceIndex device = 0; device < shared_->members.size(); ++device)
      keepers_.emplace_back([this, device] { keep_device(*shared_, device); });
    timekeeper_ = std::jthread([this] { keep_time(); });
  }

  ~Pool() override { stop(Seconds(0)); }

  Result<Ready> ready() override {
    PoolShared::Lock lock(shared_->mutex);
    const auto first = [&] {
      return std::ranges::find_if(shared_->members, [](const auto& member) { return member.serving; });
    };
    shared_->ready.wait(lock, [&] { return shared_->over || first() != shared_->members.end(); });
    if (shared_->over) return tl::unexpected<Error>(*shared_->over);
    return *first()->ready;
  }

  void add_task(const PoolTask& task) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->dispatcher.add_task(task.id, task.facts(), shared_->now());
  }

  void end_task(std::uint64_t task) override {
    PoolShared::Lock lock(shared_->mutex);
    shared_->end_task(lock, task);
    shared_->pump(lock);
  }

  std::unique_ptr<PoolTaskEngine> engine(const PoolTask& task) override { return make_task_engine(shared_, task); }

  PoolView view() override {
    PoolShared::Lock lock(shared_->mutex);
    return shared_->view(lock);
  }

  bool drain(const std::string& device) override { return tell(device, HealthEvent::drain); }
  bool resume(const std::string& device) override { return tell(device, HealthEvent::resume); }

  void driver_says(const std::string& device, const std::optional<CardTrouble>& trouble) override {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index)
      if (shared_->members[index].facts.id == device) hear(lock, index, trouble);
  }

  void others_use(const std::string& device, Bytes memory) override {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index)
      if (shared_->members[index].facts.id == device) shared_->dispatcher.device_memory(index, memory, shared_->now());
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
      for (; member.changes_told < changes.size(); ++member.changes_told) {
        const HealthChange& change = changes[member.changes_told];
        if (!change.reason.empty())
          events.push_back({member.facts.id, change.at, std::string(name_of(change.to)), change.reason});
      }
      const auto& memory = shared_->dispatcher.memory_changes(index);
      for (; member.memory_told < memory.size(); ++member.memory_told) {
        const MemoryChange& change = memory[member.memory_told];
        events.push_back(
            {member.facts.id, change.at, change.is_short ? "out_of_memory" : "memory_again", change.reason});
      }
      if (member.gone && !std::exchange(member.gone_told, true))
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
  void hear(const PoolShared::Lock& lock, DeviceIndex index, const std::optional<CardTrouble>& trouble) {
    PoolMember& member = shared_->members[index];
    if (!trouble) member.overruled.clear();
    std::optional<HealthEvent> event;
    if (trouble && trouble->what != member.overruled)
      event = trouble->lost ? HealthEvent::lost : HealthEvent::quarantine;
    if (member.in_trouble == event) return;
    member.in_trouble = event;
    member.was_away = true;
    if (event) {
      member.trouble = trouble->what;
      shared_->lost(lock, index, member.life, {Fault::device, trouble->what, ""}, Blame::lost);
      shared_->dispatcher.device_heard(index, *event, trouble->what, shared_->now());
    }
    member.changed.notify_all();
    shared_->pump(lock);
  }

  /// A driver remembers an Xid for as long as it is loaded: that the card was reset, somebody has to say.
  static void overrule(PoolMember& member) {
    if (member.in_trouble != HealthEvent::quarantine) return;
    member.overruled = member.trouble;
    member.in_trouble.reset();
    member.changed.notify_all();
  }

  bool tell(const std::string& device, HealthEvent event) {
    PoolShared::Lock lock(shared_->mutex);
    for (DeviceIndex index = 0; index < shared_->members.size(); ++index) {
      if (shared_->members[index].facts.id != device) continue;
      if (event == HealthEvent::resume) overrule(shared_->members[index]);
      shared_->dispatcher.device_heard(index, event, "an operator's wish", shared_->now());
      shared_->pump(lock);
      return true;
    }
    return false;
  }

  /// Asks again when a back-off or the patience is over.
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
  std::vector<std::jthread> keepers_{};  // they go before what they share
  std::jthread timekeeper_{};
};

}  // namespace

std::unique_ptr<DevicePool> DevicePool::start(PoolOptions options) {
  return std::make_unique<Pool>(std::move(options));
}

}  // namespace tutti
