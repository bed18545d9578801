#include "feed/ring/ring.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "feed/ring/ring_depth.h"
#include "flow/failures.h"

namespace tutti {

RingReport RingReport::since(const RingReport& before) const {
  return {.depth = depth,
          .behind = behind,
          .ready = ready,
          .batches = batches - before.batches,
          .stepping = stepping - before.stepping,
          .waiting = waiting - before.waiting,
          .fetching = fetching - before.fetching,
          .transferring = transferring - before.transferring,
          .waits = waits.since(before.waits),
          .preparing = preparing.since(before.preparing),
          .copying = copying.since(before.copying),
          .spikes = spikes - before.spikes};
}

PhaseTimes RingReport::producer(bool gathers, Seconds elapsed) const {
  const Seconds busy = gathers ? fetching + transferring : transferring;
  return {.name = "ring",
          .busy = busy,
          .waiting = std::max(Seconds(0), elapsed - busy),
          .count = static_cast<std::uint64_t>(batches)};
}

/// What the ring's thread, the consumer and the slots that are out share.
struct RingParts {
  struct Filled {
    std::size_t slot = 0;
    std::shared_ptr<const Batch> batch{};
    BatchTimes times{};
  };
  struct State {
    std::vector<std::size_t> free{};
    std::deque<Filled> filled{};
    bool is_over = false;     // nothing more comes
    bool is_stopped = false;  // no batch is requested any more
    std::optional<Error> error{};
    int depth = 0;
    int behind = 0;
  };

  RingParts(DeviceRing::Fetch source, RingDevice& target, const RingOptions& wanted)
      : fetch(std::move(source)), device(target), options(wanted), tuner(wanted.most_depth + wanted.most_behind) {}

  void run();
  void fill();
  std::optional<std::size_t> free_slot();
  void end(std::optional<Error> error);
  void deepen(Seconds read, Seconds step);

  DeviceRing::Fetch fetch;
  RingDevice& device;
  RingOptions options;
  Guarded<State> state;
  std::vector<std::shared_ptr<const Batch>> held;  // by slot: the ring's thread's own

  RingTuner tuner;  // the consumer's, as what follows
  std::optional<Clock::Instant> given;
  Guarded<RingReport> report;
  Histogram waits;
  std::thread thread;
};

void RingParts::end(std::optional<Error> error) {
  state.change([&](State& it) {
    it.is_over = true;
    it.error = std::move(error);
  });
}

std::optional<std::size_t> RingParts::free_slot() {
  return state.wait([](const State& it) { return it.is_stopped || !it.free.empty(); },
                    [](State& it) -> std::optional<std::size_t> {
                      if (it.is_stopped) return std::nullopt;
                      const std::size_t slot = it.free.back();
                      it.free.pop_back();
                      return slot;
                    });
}

void RingParts::run() {
  try {
    fill();
  } catch (...) {
    end(error_of_exception("ring"));
  }
}

void RingParts::fill() {
  for (;;) {
    const auto since = options.clock->now();
    auto batch = fetch();
    BatchTimes times;
    times.fetching.add(since, options.clock->now());
    if (!batch) return end(batch.error());
    if (!*batch) return end(std::nullopt);
    const auto slot = free_slot();
    if (!slot) return;
    times.held_up = (*batch)->held_up;
    times.feed = std::move((*batch)->made_by);
    auto shared = std::make_shared<const Batch>(std::move(**batch));
    const auto fetched = options.clock->now();
    if (auto begun = device.begin_transfer(*slot, *shared); !begun) return end(begun.error());
    times.transferring.add(fetched, options.clock->now());
    report.with([&](RingReport& it) {
      it.fetching += times.fetching.busy;
      it.transferring += times.transferring.busy;
    });
    held[*slot] = shared;
    state.change([&](State& it) { it.filled.push_back({*slot, std::move(shared), std::move(times)}); });
  }
}

/// More slots where the tuner finds that they would have paid, and where those are all taken a deeper queue behind
/// them.
void RingParts::deepen(Seconds read, Seconds step) {
  if (options.most_depth + options.most_behind <= options.depth) return;
  tuner.note(read, step);
  constexpr std::int64_t kEvery = 64, kFirst = 2;
  const auto batches = report.with([](const RingReport& it) { return it.batches; });
  const bool knows = batches == kFirst && options.known_depth > 0;
  if (!knows && batches % kEvery != 0) return;
  const auto [depth, behind_now] = state.with([](const State& it) { return std::pair(it.depth, it.behind); });
  const int fitting = options.fitting ? std::min(options.fitting(), options.most_depth) : options.most_depth;
  const int most = std::max(fitting, depth);
  tuner.allow(most + options.most_behind);
  const int wanted = knows ? std::min(options.known_depth, most) : tuner.advised(depth + behind_now);
  int behind = 0;
  state.change([&](State& it) {
    const int slots = std::min(wanted, most);
    for (; it.depth < slots; ++it.depth) it.free.push_back(static_cast<std::size_t>(it.depth));
    behind = wanted - slots > it.behind ? wanted - slots : 0;
    it.behind += behind > 0 ? behind - it.behind : 0;
  });
  if (behind > 0) options.wait_behind(behind);
}

DeviceRing::Slot& DeviceRing::Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  release();
  ring_ = std::move(other.ring_);
  batch_ = std::move(other.batch_);
  index_ = other.index_;
  times_ = std::move(other.times_);
  return *this;
}

void DeviceRing::Slot::release() {
  if (!ring_) return;
  ring_->device.release(index_);
  batch_.reset();
  ring_->state.change([&](RingParts::State& it) { it.free.push_back(index_); });
  ring_.reset();
}

DeviceRing::DeviceRing(Fetch fetch, RingDevice& device, const RingOptions& options)
    : parts_(std::make_shared<RingParts>(std::move(fetch), device, options)) {
  RingParts& it = *parts_;
  it.options.depth = std::max(options.depth, 1);
  it.options.most_depth = std::max(options.most_depth, it.options.depth);
  it.held.resize(static_cast<std::size_t>(it.options.most_depth));
  it.state.with([&](RingParts::State& state) {
    state.depth = it.options.depth;
    for (int slot = 0; slot < state.depth; ++slot) state.free.push_back(static_cast<std::size_t>(slot));
  });
  it.thread = std::thread([&it] { it.run(); });
}

DeviceRing::~DeviceRing() {
  parts_->state.change([](RingParts::State& it) { it.is_stopped = true; });
  parts_->thread.join();
}

Result<std::optional<DeviceRing::Slot>> DeviceRing::next() {
  RingParts& it = *parts_;
  const auto requested = it.options.clock->now();
  std::optional<Error> error;
  auto filled = it.state.wait([](const RingParts::State& state) { return state.is_over || !state.filled.empty(); },
                              [&](RingParts::State& state) -> std::optional<RingParts::Filled> {
                                if (state.filled.empty()) {
                                  error = state.error;
                                  return std::nullopt;
                                }
                                auto oldest = std::move(state.filled.front());
                                oldest.times.depth = state.depth + state.behind;
                                state.filled.pop_front();
                                return oldest;
                              });
  const auto now = it.options.clock->now();
  const bool is_first = !it.given;
  const Seconds step = is_first ? Seconds(0) : Seconds(requested - *it.given), waited = now - requested;
  it.given.reset();
  it.report.with([&](RingReport& report) { report.stepping += step; });
  if (error) return tl::unexpected(*error);
  if (!filled) return std::nullopt;
  it.given = now;
  if (!is_first) it.waits.record(waited.count());
  it.report.with([&](RingReport& report) {
    ++report.batches;
    if (is_first) return;  // what comes before the first batch is the start, not a stall
    report.waiting += waited;
    report.spikes += waited > Seconds(0.05);
  });
  if (!is_first) it.deepen(filled->times.fetching.busy, step);
  it.device.use(filled->slot);
  Slot slot;
  slot.ring_ = parts_;
  slot.batch_ = std::move(filled->batch);
  slot.index_ = filled->slot;
  slot.times_ = std::move(filled->times);
  return slot;
}

void DeviceRing::go_on() {
  if (parts_->given) parts_->given = parts_->options.clock->now();
}

RingReport DeviceRing::report() const {
  RingReport report = parts_->report.with([](const RingReport& it) { return it; });
  report.waits = parts_->waits.snapshot();
  parts_->state.with([&](const RingParts::State& it) {
    report.depth = it.depth;
    report.behind = it.behind;
    report.ready = static_cast<int>(it.filled.size());
  });
  return report;
}

}  // namespace tutti
