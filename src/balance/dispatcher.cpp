#include "balance/dispatcher.h"

#include <algorithm>
#include <unordered_map>

#include "balance/device_record.h"
#include "balance/placement.h"
#include "balance/work_queue.h"
#include "base/strings.h"

namespace tutti {

namespace {

/// The relative error of a speed that is only believed.
constexpr double kUnmeasuredError = 0.3;

}  // namespace

struct Dispatcher::State {
  explicit State(const DispatcherOptions& given) : options(given), queue(options) {}

  DispatcherOptions options;
  WorkQueue queue;
  std::vector<DeviceRecord> devices{};
  std::unordered_map<GrantId, DeviceIndex> granted{};
  GrantId last_grant = 0;
  std::size_t dealt = 0;  // jobs, round robin
  std::optional<std::string> host_short{};
  std::optional<Idle> held_back{};

  void advance(Seconds now) {
    for (DeviceRecord& device : devices) device.advance(now);
  }

  bool little_left() const {
    constexpr double kFewPieces = 5;  // for each device
    const auto serving =
        std::ranges::count_if(devices, [](const DeviceRecord& it) { return it.health().in_service(); });
    return queue.audio_unplaced() <= kFewPieces * static_cast<double>(serving) * options.piece.count();
  }

  /// A device for a risky piece, when none is empty: the one that is soonest, of those that should take it.
  std::optional<DeviceIndex> clearing() const {
    if (queue.risky().empty()) return {};
    const QueuedJob& job = queue.at(*queue.risky().begin());
    const Scene unclear{devices, queue, options, host_short, held_back, little_left()};
    std::optional<DeviceIndex> best;
    for (DeviceIndex i = 0; i < devices.size(); ++i) {
      const auto limit = refused(unclear, i, job);
      if (limit && *limit != Limit::slots && *limit != Limit::device_memory) continue;
      if (!best || devices[i].drain() < devices[*best].drain()) best = i;
    }
    return best;
  }
  Scene scene() const { return {devices, queue, options, host_short, held_back, little_left(), clearing()}; }

  bool another_in_service(DeviceIndex device) const {
    for (DeviceIndex i = 0; i < devices.size(); ++i)
      if (i != device && devices[i].health().in_service()) return true;
    return false;
  }

  Grant grant(DeviceIndex device, Flight flight) {
    flight.id = ++last_grant;
    granted.emplace(flight.id, device);
    const Grant grant{.id = flight.id,
                      .job = flight.job,
                      .device = device,
                      .audio = flight.audio,
                      .reserved = flight.reserved,
                      .canary = flight.canary};
    devices[device].add(std::move(flight));
    return grant;
  }

  std::optional<Grant> canary() {
    for (DeviceIndex i = 0; i < devices.size(); ++i)
      if (devices[i].health().wants_canary() && devices[i].pieces() == 0)
        return grant(i, {.audio = options.canary_audio, .canary = true});
    return {};
  }

  /// A worker is lost with all that it has in flight: one failure of the device, however many pieces it costs. What was
  /// in flight runs alone next. It counts against a job only where the device had lately been well, and as long as it
  /// is well without the job. When everything fails everywhere, or a GPU has fallen ill while idle, no job is to
  /// blame.
  void lose_worker(DeviceIndex device, Flight& flight, Blame why, const std::string& reason, Seconds now) {
    DeviceRecord& record = devices[device];
    if (flight.id > record.incident) {
      record.incident = last_grant;
      record.incident_counts = why != Blame::lost && record.health().proven(flight.started);
      if (!record.incident_counts) clear_blame(device, flight);
      record.health().failed(reason, flight.canary, !another_in_service(device), now);
    }
    if (record.incident_counts) flight.took_down.push_back(device);
    QueuedJob* job = flight.canary ? nullptr : queue.find(flight.job);
    if (job && std::find(job->avoid.begin(), job->avoid.end(), device) == job->avoid.end())
      job->avoid.push_back(device);
  }

  /// The device has failed again without having been well in between: its earlier losses were its own.
  void clear_blame(DeviceIndex device, Flight& flight) {
    std::erase(flight.took_down, device);
    queue.clear_blame(device);
    for (DeviceRecord& record : devices) record.clear_blame(device);
  }

  FailureDecision poisoned(const QueuedJob& job, const Flight& flight, Seconds now) {
    for (const DeviceIndex device : flight.took_down) devices[device].health().forgive(1, now);
    return {FailureDecision::Next::failed,
            std::to_string(flight.took_down.size()) +
                " workers were lost with it, the last with nothing beside it: " + evidence_text(job)};
  }

  static std::string evidence_text(const QueuedJob& job) { return joined(job.evidence, "; "); }

  FailureDecision decide(QueuedJob& job, const Flight& flight, DeviceIndex device, Blame why, Seconds now);
};

/// Decides what becomes of a job; its piece has been put back already.
FailureDecision Dispatcher::State::decide(QueuedJob& job, const Flight& flight, DeviceIndex device, Blame why,
                                          Seconds now) {
  switch (why) {
    case Blame::permanent: return {FailureDecision::Next::failed, evidence_text(job)};
    case Blame::cancelled: return {};
    case Blame::device:
    case Blame::unclear:
    case Blame::lost:
      if (flight.alone && devices[device].incident_counts &&
          (!options.fresh_worker_decides || devices[device].had_one_piece()) &&
          static_cast<int>(flight.took_down.size()) >= options.workers_per_job + (why == Blame::unclear ? 1 : 0))
        return poisoned(job, flight, now);
      return {FailureDecision::Next::retry, evidence_text(job)};
    case Blame::exhausted:
      // Where others have taken the memory meanwhile, it waits for that and is not to blame.
      if (devices[device].pieces() == 0 && devices[device].holds_one_more(options) && ++job.exhausted >= 2)
        return {FailureDecision::Next::failed, "does not fit, even alone: " + evidence_text(job)};
      return {FailureDecision::Next::retry, evidence_text(job)};
  }
  return {};
}

Dispatcher::Dispatcher(const DispatcherOptions& options) : state_(std::make_unique<State>(options)) {}
Dispatcher::~Dispatcher() = default;
Dispatcher::Dispatcher(Dispatcher&&) noexcept = default;
Dispatcher& Dispatcher::operator=(Dispatcher&&) noexcept = default;

DeviceIndex Dispatcher::add_device(DeviceFacts facts, Seconds now) {
  state_->advance(now);
  state_->devices.emplace_back(std::move(facts), state_->options.breaker, now);
  return state_->devices.size() - 1;
}

void Dispatcher::device_memory(DeviceIndex device, Bytes foreign, Seconds now) {
  state_->advance(now);
  state_->devices.at(device).set_foreign(foreign);
}

void Dispatcher::device_load(DeviceIndex device, const DeviceLoad& load, Seconds now) {
  state_->advance(now);
  state_->devices.at(device).set_load(load);
}

void Dispatcher::device_slots(DeviceIndex device, int slots, Seconds now) {
  state_->advance(now);
  state_->devices.at(device).set_slots(slots);
}

void Dispatcher::device_speed(DeviceIndex device, double speed, Seconds now) {
  state_->advance(now);
  state_->devices.at(device).believe(speed);
}

void Dispatcher::device_event(DeviceIndex device, HealthEvent event, const std::string& reason, Seconds now) {
  state_->advance(now);
  DeviceRecord& record = state_->devices.at(device);
  if (event == HealthEvent::ready) record.got_ready();
  record.health().on_event(event, reason, now);
  const bool worker_gone =
      event == HealthEvent::lost || event == HealthEvent::restarting || event == HealthEvent::quarantine;
  if (!worker_gone || !record.probing()) return;
  const GrantId canary = record.flights().front().id;  // nothing is placed beside it
  state_->granted.erase(canary);
  record.remove(canary);
}

void Dispatcher::nothing_came_since(DeviceIndex device, Seconds since, Seconds now) {
  state_->advance(now);
  const auto held_up = state_->devices.at(device).nothing_came_since(since);
  if (!held_up) return;
  for (DeviceIndex i = 0; i < state_->devices.size(); ++i)
    if (i != device) state_->devices[i].another_stalled(*held_up);
}

void Dispatcher::add_job(JobKey job, JobFacts facts, Seconds now) {
  state_->advance(now);
  std::optional<DeviceIndex> dealt_to;
  if (state_->options.policy == Policy::round_robin && !state_->devices.empty())
    dealt_to = state_->dealt++ % state_->devices.size();
  state_->queue.add(job, facts, dealt_to);
}

void Dispatcher::correct_length(JobKey job, Seconds audio, Seconds now) {
  state_->advance(now);
  state_->queue.correct_length(job, audio);
  if (const QueuedJob* it = state_->queue.find(job); it && it->facts.whole)
    for (DeviceRecord& device : state_->devices) device.correct_length(job, audio);
}

void Dispatcher::offer(JobKey job, Seconds audio, std::int64_t count, Seconds now) {
  state_->advance(now);
  state_->queue.offer(job, {.audio = audio, .count = count});
}

void Dispatcher::withdraw(JobKey job, Seconds now) {
  state_->advance(now);
  state_->queue.withdraw(job);
}

void Dispatcher::defer_job(JobKey job, Seconds now) {
  state_->advance(now);
  state_->queue.defer(job);
}

void Dispatcher::end_job(JobKey job, Seconds now) {
  state_->advance(now);
  state_->queue.end(job);
}

void Dispatcher::host_short(std::optional<std::string> why, Seconds now) {
  state_->advance(now);
  state_->host_short = std::move(why);
}

void Dispatcher::held_back(std::optional<Idle> why, Seconds now) {
  state_->advance(now);
  state_->held_back = why;
}

std::optional<Grant> Dispatcher::next(Seconds now) {
  state_->advance(now);
  if (auto canary = state_->canary()) return canary;
  const Scene scene = state_->scene();
  if (const auto placed = place(scene)) {
    const QueuedJob& job = state_->queue.at(placed->job);
    Flight flight{
        .job = placed->job, .reserved = state_->devices[placed->device].facts().piece_memory, .alone = job.risky()};
    ReadyPieces piece = state_->queue.take(placed->job);
    flight.audio = piece.audio;
    flight.took_down = std::move(piece.took_down);
    return state_->grant(placed->device, std::move(flight));
  }
  for (DeviceIndex i = 0; i < state_->devices.size(); ++i) {
    DeviceRecord& device = state_->devices[i];
    if (device.pieces() > 0) continue;
    const auto refusal = why_not(scene, i);
    device.idle_because(refusal ? std::optional(refusal->why) : std::nullopt);
  }
  return {};
}

void Dispatcher::finished(GrantId grant, Seconds now, bool is_measured) {
  state_->advance(now);
  const auto at = state_->granted.find(grant);
  if (at == state_->granted.end()) return;
  DeviceRecord& device = state_->devices[at->second];
  state_->granted.erase(at);
  const Flight flight = *device.remove(grant);
  if (is_measured) device.learned(flight, now);
  device.health().succeeded(flight.canary, now);
  if (flight.canary) return;
  device.held(now);
  if (QueuedJob* job = state_->queue.find(flight.job); job && flight.alone) job->avoid.clear();
  state_->queue.landed(flight.job);
}

FailureDecision Dispatcher::failed(GrantId grant, Blame why, const std::string& reason, Seconds now) {
  state_->advance(now);
  const auto at = state_->granted.find(grant);
  if (at == state_->granted.end()) return {};
  const DeviceIndex index = at->second;
  DeviceRecord& device = state_->devices[index];
  state_->granted.erase(at);
  const int pieces = device.pieces();
  Flight flight = *device.remove(grant);
  const bool worker_lost = why == Blame::device || why == Blame::unclear || why == Blame::lost;
  if (worker_lost || flight.canary) state_->lose_worker(index, flight, why, reason, now);
  if (why == Blame::exhausted) device.exhausted(grant, state_->last_grant, pieces, now);
  if (flight.canary) return {};
  FailureDecision decision{};
  if (QueuedJob* job = state_->queue.find(flight.job)) {
    if (why != Blame::cancelled) job->evidence.push_back(device.facts().id + ": " + reason);
    decision = state_->decide(*job, flight, index, why, now);
  }
  state_->queue.put_back(flight.job, {.audio = flight.audio,
                                      .count = 1,
                                      .risky = worker_lost || flight.alone,
                                      .took_down = std::move(flight.took_down)});
  return decision;
}

std::optional<Seconds> Dispatcher::wake_at() const {
  std::optional<Seconds> soonest;
  for (const DeviceRecord& device : state_->devices)
    if (const auto at = device.wake_at(); at && (!soonest || *at < *soonest)) soonest = at;
  return soonest;
}

std::vector<DeviceView> Dispatcher::devices(Seconds now) {
  state_->advance(now);
  const Scene scene = state_->scene();
  std::vector<DeviceView> views;
  for (DeviceIndex i = 0; i < state_->devices.size(); ++i) {
    views.push_back(state_->devices[i].view(now, state_->options));
    if (auto refusal = why_not(scene, i)) views.back().refusal = std::move(refusal->words);
  }
  return views;
}

DeviceState Dispatcher::state(DeviceIndex device) const {
  return state_->devices.at(device).health().state();
}

QueueView Dispatcher::queue(Seconds now) {
  state_->advance(now);
  const Seconds piece = state_->queue.piece_unplaced();
  double audio = state_->queue.audio_unplaced(), speed = 0, error = 0;
  Seconds landing{};  // what is in flight cannot go elsewhere, also from a device that takes nothing new
  for (const DeviceRecord& device : state_->devices) {
    landing = std::max(landing, device.drain());
    if (!device.health().in_service()) continue;
    const double through = device.through(piece);
    audio += device.audio_in_flight() * (through / device.speed());  // as if it were such pieces
    speed += through;
    error += through * device.error(piece).value_or(kUnmeasuredError);
  }
  if (speed <= 0) return {};
  return {.expected_left = std::max(Seconds(audio / speed), landing), .error = std::min(1.0, error / speed)};
}

const std::vector<HealthChange>& Dispatcher::health_changes(DeviceIndex device) const {
  return state_->devices.at(device).health().changes();
}

const std::vector<MemoryChange>& Dispatcher::memory_changes(DeviceIndex device) const {
  return state_->devices.at(device).memory_changes();
}

std::vector<SpeedView> Dispatcher::speeds(DeviceIndex device) const {
  return state_->devices.at(device).speeds();
}

std::optional<DeviceIndex> Dispatcher::next_device(Seconds now) {
  state_->advance(now);
  return tutti::next_device(state_->scene());
}

}  // namespace tutti
