#include "device/telemetry/sampler.h"

#include <unistd.h>

#include <functional>
#include <set>
#include <thread>

#include "base/guarded.h"
#include "device/telemetry/attribution.h"
#include "device/telemetry/driver_watch.h"
#include "device/telemetry/host_reader.h"

namespace tutti {

/// Shared by the threads, and by those left behind in a call that hangs: it exists as long as the last of them.
struct SamplerState {
  SamplerState(SamplerOptions chosen, const Clock& time)
      : options(std::move(chosen)), clock(time), driver(std::make_shared<DriverState>(options.patience)) {}

  struct Newest {
    std::shared_ptr<const MachineSnapshot> snapshot = std::make_shared<const MachineSnapshot>();
    bool has_gpus = false;  // the driver has answered, or reported that there is none
  };
  struct Crew {
    bool is_over = false;
    int reader = 0;   // the reader that is needed; older ones hang
    int running = 0;  // threads
    int rounds = 0;   // that readers have finished
  };

  const SamplerOptions options;
  const Clock& clock;
  std::shared_ptr<DriverState> driver;
  Guarded<Newest> newest;
  Guarded<Crew> crew;

  bool is_over() const {
    return crew.with([](const Crew& all) { return all.is_over; });
  }
  bool needs(int reader) const {
    return crew.with([&](const Crew& all) { return !all.is_over && all.reader == reader; });
  }
  /// Waits; true when the reader (or, for -1, any reader) is still needed after it.
  bool pause(Seconds time, int reader) {
    return !crew.wait_for(time, [&](const Crew& all) { return all.is_over || (reader >= 0 && all.reader != reader); });
  }
};

namespace {

using State = std::shared_ptr<SamplerState>;

/// Without news from a reader the publisher waits a little longer than it, so that one snapshot has the next round.
constexpr double kWithoutNews = 1.25;

/// The first is taken before the driver has answered, the second right then; the third has rates over a whole period.
constexpr std::uint64_t kSettled = 3;

/// A thread that need not be joined: it keeps the state alive and reports when it is done.
void start_thread(const State& state, std::function<void()> body) {
  state->crew.with([](auto& crew) { ++crew.running; });
  std::thread([state, body = std::move(body)]() mutable {
    body();
    body = nullptr;
    state->crew.change([](auto& crew) { --crew.running; });
  }).detach();
}

void read_gpus(const State& state, int reader) {
  DriverWatch watch(state->driver, reader, state->clock, [state, reader] { return state->needs(reader); });
  do {
    watch.read_once();
    state->crew.change([](auto& crew) { ++crew.rounds; });
  } while (state->pause(state->options.period, reader));
}

void read_pcie(const State& state) {
  const auto is_needed = [state] { return !state->is_over(); };
  for (Seconds wait = state->options.period; state->pause(wait, -1); wait = state->options.pcie_period)
    measure_all_pcie(*state->driver, state->clock, is_needed);
}

/// A reader that hangs is left to itself; another goes on with the GPUs that answer.
void replace_reader_that_hangs(const State& state, Clock::Instant now) {
  const int reader = state->crew.with([](const auto& crew) { return crew.reader; });
  if (!state->driver->table.with([&](const GpuTable& table) { return table.is_overdue(reader, now); })) return;
  state->crew.change([](auto& crew) { ++crew.reader; });
  start_thread(state, [state, next = reader + 1] { read_gpus(state, next); });
}

MachineSnapshot take_snapshot(SamplerState& state, HostReader& host, std::uint64_t number) {
  const auto now = state.clock.now();
  MachineSnapshot all{.number = number, .when = now, .wall_clock = std::chrono::system_clock::now()};
  state.driver->table.with([&](GpuTable& table) {
    all.gpus = table.gpus(now);
    all.source = table.source();
    all.driver = table.driver();
    all.driver_hangs = table.hangs("", now);
    all.notes = table.notes(now);
  });
  std::set<int> on_gpus;
  for (const auto& gpu : all.gpus)
    if (gpu.processes)
      for (const auto& process : *gpu.processes) on_gpus.insert(process.pid);
  all.host = host.read(now, state.options.own_root.value_or(::getpid()), on_gpus);
  for (auto& gpu : all.gpus) attribute_load(gpu, all.host);
  if (auto problem = number_as_cuda(all.gpus, state.options.visible_devices)) all.notes.push_back(std::move(*problem));
  return all;
}

void publish(const State& state) {
  HostReader host(state->options.disks);
  for (std::uint64_t number = 1;; ++number) {
    replace_reader_that_hangs(state, state->clock.now());
    const int rounds = state->crew.with([](const auto& crew) { return crew.rounds; });
    auto snapshot = std::make_shared<const MachineSnapshot>(take_snapshot(*state, host, number));
    state->newest.change([&](auto& newest) { newest = {std::move(snapshot), rounds > 0}; });
    // What a reader finds is published at once, and the publisher speaks up when none finds anything.
    state->crew.wait_for(kWithoutNews * state->options.period,
                         [&](const auto& crew) { return crew.is_over || crew.rounds != rounds; });
    if (state->is_over()) return;
  }
}

}  // namespace

Sampler::Sampler(SamplerOptions options, const Clock& clock)
    : state_(std::make_shared<SamplerState>(std::move(options), clock)) {
  start_thread(state_, [state = state_] { read_gpus(state, 0); });
  start_thread(state_, [state = state_] { publish(state); });
  if (state_->options.pcie_period > Seconds(0)) start_thread(state_, [state = state_] { read_pcie(state); });
}

Sampler::~Sampler() {
  state_->crew.change([](SamplerState::Crew& crew) { crew.is_over = true; });
  const auto is_done = [](const SamplerState::Crew& crew) { return crew.running == 0; };
  // With every thread gone the library is closed here, and not by whichever thread drops the state last.
  if (state_->crew.wait_for(state_->options.farewell, is_done))
    state_->driver->view->with([](NvmlView& view) { view = {}; });
}

std::shared_ptr<const MachineSnapshot> Sampler::latest() const {
  return state_->newest.with([](const SamplerState::Newest& newest) { return newest.snapshot; });
}

std::shared_ptr<const MachineSnapshot> Sampler::settled(Seconds patience) const {
  state_->newest.wait_for(patience, [](const SamplerState::Newest& newest) {
    return newest.has_gpus && newest.snapshot->number >= kSettled;
  });
  return latest();
}

}  // namespace tutti
