#include "transcribe/pool/pool_state.h"

#include <algorithm>

#include "base/log.h"

namespace tutti {
namespace {

DispatcherOptions dispatcher_options(const PoolPlan& options) {
  DispatcherOptions wanted;
  wanted.policy = policy_named(options.policy).value_or(Policy::tutti);
  wanted.jobs_at_once = options.jobs_at_once;
  wanted.breaker = options.breaker;
  wanted.fresh_worker_decides = options.fresh_worker_decides;
  return wanted;
}

DeviceFacts facts_of(const PooledDevice& device) {
  return {.id = device.id,
          .speed = device.speed,
          .slots = 1,  // until its worker reports how many
          .enough = std::max(1, device.enough),
          .job_cap = device.job_cap,
          .memory = device.memory,
          .model_memory = device.model_memory,
          .piece_memory = device.window_memory,
          .load_time = device.load_time,
          .starting = true};
}

Error job_ended() {
  return {Fault::cancelled, "its job has ended"};
}

void refuse_all(PoolJobRecord& job, const Error& why) {
  for (const auto& reservation : job.waiting) {
    reservation->refused = why;
    reservation->changed.notify_all();
  }
  job.waiting.clear();
}

}  // namespace

std::string again_text(std::size_t windows) {
  return "; starting it again, requests to be done again: " + std::to_string(windows);
}

PoolState::PoolState(PoolPlan given)
    : options(std::move(given)), started(Clock::real().now()), dispatcher(dispatcher_options(options)) {
  for (const PooledDevice& device : options.devices) {
    dispatcher.add_device(facts_of(device), Seconds(0));
    members.emplace_back().facts = device;
  }
}

void PoolState::pump() {
  while (!over) {
    const auto grant = dispatcher.next(now());
    if (!grant) break;
    PoolMember& member = members[grant->device];
    if (grant->canary) {
      member.canary = *grant;
      member.changed.notify_all();
      continue;
    }
    auto& waiting = record_of(grant->job)->waiting;
    if (!member.worker) {  // it is between two: what waits, waits on
      dispatcher.failed(grant->id, Blame::cancelled, "no worker", now());
      dispatcher.device_event(grant->device, HealthEvent::restarting, "", now());
      continue;
    }
    if (waiting.empty()) {  // its caller has gone meanwhile
      dispatcher.failed(grant->id, Blame::cancelled, "no caller waits for it", now());
      dispatcher.withdraw(grant->job, now());
      continue;
    }
    const auto reservation = waiting.front();
    waiting.pop_front();
    note_first_grant(*reservation->record, *grant);
    const bool idle = std::ranges::none_of(granted, [&](const auto& at) { return at.second->device == grant->device; });
    if (idle) member.progress_at = now();
    reservation->grant = grant->id;
    reservation->device = grant->device;
    reservation->generation = member.generation;
    reservation->worker = member.worker;
    granted[grant->id] = reservation;
    reservation->changed.notify_all();
  }
  log_memory();
  give_up_if_hopeless();
  time.notify_all();
}

void PoolState::log_memory() {
  for (DeviceIndex device = 0; device < members.size(); ++device) {
    const auto& changes = dispatcher.memory_changes(device);
    for (std::size_t& logged = members[device].memory_logged; logged < changes.size(); ++logged)
      log(changes[logged].is_short ? Level::warning : Level::info,
          members[device].facts.id + ": " + changes[logged].reason);
  }
}

void PoolState::lost(DeviceIndex device, int generation, const Error& error, Blame why) {
  PoolMember& member = members[device];
  if (member.generation != generation) return;
  if (member.worker && member.worker->ended_unclearly()) why = Blame::unclear;
  ++member.generation;
  member.loss = member.last_error = error;
  member.serving = false;
  if (member.worker) member.worker->stop(Seconds(0));
  std::vector<std::shared_ptr<Reservation>> reservations;
  for (const auto& [grant, reservation] : granted)
    if (reservation->device == device) reservations.push_back(reservation);
  if (!stopping)
    log(Level::warning, members.size() == 1 ? error.text() + again_text(reservations.size())
                                            : member.facts.id + ": " + error.text() + "; windows that go elsewhere: " +
                                                  std::to_string(reservations.size()));
  if (!stopping) dispatcher.nothing_came_since(device, member.progress_at, now());
  if (member.canary_runs && member.canary) dispatcher.failed(member.canary->id, why, error.what, now());
  member.canary.reset();
  for (auto at = reservations.rbegin(); at != reservations.rend(); ++at) {
    const auto& reservation = *at;
    Reservation& moved = *reservation;
    granted.erase(moved.grant);
    const auto decision = dispatcher.failed(std::exchange(moved.grant, 0), why, error.what, now());
    moved.worker.reset();
    ++moved.record->moves;
    if (decision.next == FailureDecision::Next::retry)
      line_up(reservation, true);
    else
      moved.refused = Error{Fault::device, decision.reason};
    moved.changed.notify_all();
  }
  if (!stopping) dispatcher.device_event(device, HealthEvent::restarting, error.what, now());
  member.changed.notify_all();
  pump();
}

std::shared_ptr<PoolJobRecord> PoolState::record_of(JobKey job) {
  auto& record = jobs[job];
  if (!record) record = std::make_shared<PoolJobRecord>();
  return record;
}

void PoolState::line_up(const std::shared_ptr<Reservation>& reservation, bool was_granted) const {
  PoolJobRecord& job = *reservation->record;
  if (over)
    reservation->refused = over;
  else if (job.ended)
    reservation->refused = job_ended();
  else if (was_granted)
    job.waiting.push_front(reservation);
  else
    job.waiting.push_back(reservation);
}

void PoolState::end_job(JobKey job) {
  dispatcher.end_job(job, now());
  const auto found = jobs.find(job);
  if (found == jobs.end()) return;
  found->second->ended = true;
  refuse_all(*found->second, job_ended());
  jobs.erase(found);
}

void PoolState::end(const Error& why) {
  if (!over) over = why;
  for (const auto& [id, job] : jobs) refuse_all(*job, why);
  for (auto& member : members) member.changed.notify_all();
  ready.notify_all();
  time.notify_all();
}

std::string PoolState::reasons() const {
  std::string text;
  for (const auto& member : members) {
    if (!member.last_error) continue;
    text += (text.empty() ? "" : "; ") + member.facts.id + ": " + member.last_error->what;
  }
  return text;
}

bool PoolState::anything_serves() const {
  for (DeviceIndex device = 0; device < members.size(); ++device) {
    const DeviceState state = dispatcher.state(device);
    // A worker may run on a GPU that gets no work until a user has repaired it.
    const bool out = state == DeviceState::quarantined || state == DeviceState::lost;
    if (members[device].serving && !out) return true;
  }
  return false;
}

void PoolState::give_up_if_hopeless() {
  if (over) return;
  if (anything_serves()) served_at = now();
  const bool none_left = std::ranges::all_of(members, [](const auto& member) { return member.gone.has_value(); });
  if (none_left) {
    const Error& first = *members.front().gone;
    // Whatever the reason that they are lost, a job that ends with this is not to blame.
    if (members.size() == 1) return end({Fault::device, first.what, first.hint});
    return end({Fault::device, "no device is left: " + reasons(), first.hint});
  }
  if (now() - served_at > options.patience)
    end({Fault::device,
         "no device has been in service for " + std::to_string(static_cast<int>(options.patience.count())) +
             " s: " + reasons(),
         "Mend a device and run the same command again; it goes on where it was"});
}

}  // namespace tutti
