#include "balance/simulator.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "balance/window_cost.h"

namespace tutti {

std::vector<SimJob> with_error(std::span<const double> seconds, double error, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::uniform_real_distribution<double> off(-error, error);
  std::vector<SimJob> jobs;
  for (const double audio : seconds)
    jobs.push_back({.audio = Seconds(audio), .believed = Seconds(audio * (1 + (error > 0 ? off(dice) : 0)))});
  return jobs;
}

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kDone = 1e-7;  // device seconds: less than this is nothing left

/// What the audio costs in the device's own time, without jitter.
double cost(const SimDevice& device, Seconds audio) {
  return windows_in(audio) * device.fixed.count() + audio.count() / device.speed;
}

/// A device and the pieces it works on, evenly shared.
class Machine {
 public:
  Machine(const SimDevice& device, std::uint64_t seed) : device_(&device), dice_(seed) {}

  void start(const Grant& grant) {
    double work = cost(*device_, grant.audio);
    if (device_->jitter > 0) work *= std::max(0.1, 1 + device_->jitter * normal_(dice_));
    pieces_.push_back({grant, work});
  }

  void advance(double passed) {
    for (auto& piece : pieces_) piece.work -= passed * rate() / static_cast<double>(pieces_.size());
  }

  /// From now.
  double next_done() const {
    if (pieces_.empty()) return kNever;
    double least = kNever;
    for (const auto& piece : pieces_) least = std::min(least, piece.work);
    return std::max(0.0, least) * static_cast<double>(pieces_.size()) / rate();
  }

  std::vector<Grant> take_done() {
    return take([](const Piece& piece) { return piece.work <= kDone; });
  }
  std::vector<Grant> take_all() {
    return take([](const Piece&) { return true; });
  }

  const SimDevice& device() const { return *device_; }
  std::size_t faults_seen = 0;
  bool gone = false;
  double ready_at = 0;  // its present worker is, or was
  bool ready = true;

 private:
  struct Piece {
    Grant grant;
    double work;  // device seconds left
  };

  double rate() const { return std::min(1.0, static_cast<double>(pieces_.size()) / device_->facts.enough); }

  template <class Which>
  std::vector<Grant> take(Which&& which) {
    std::vector<Grant> taken;
    std::erase_if(pieces_, [&](const Piece& piece) {
      if (!which(piece)) return false;
      taken.push_back(piece.grant);
      return true;
    });
    return taken;
  }

  const SimDevice* device_;
  std::mt19937_64 dice_;
  std::normal_distribution<double> normal_{};
  std::vector<Piece> pieces_{};
};

class Simulation {
 public:
  Simulation(std::span<const SimJob> jobs, std::span<const SimDevice> devices, const SimOptions& options)
      : jobs_(jobs), options_(options), dispatcher_(options.dispatcher), left_(jobs.size()) {
    result_.done_at.assign(jobs.size(), Seconds(-1));
    for (const SimDevice& device : devices) {
      machines_.emplace_back(device, options.seed * 1000 + machines_.size());
      wait_for_worker(machines_.back());
      DeviceFacts facts = device.facts;
      facts.starting = !machines_.back().ready;
      dispatcher_.add_device(std::move(facts), Seconds{});
    }
    for (JobKey id = 0; id < jobs.size(); ++id) add(id);
  }

  SimResult run() {
    pump();
    while (unfinished_ > 0) {
      const double next = next_event();
      if (next == kNever) break;
      for (auto& machine : machines_) machine.advance(next - now_);
      now_ = next;
      for (DeviceIndex i = 0; i < machines_.size(); ++i) happen(i);
      pump();
    }
    result_.makespan = Seconds(last_done_);
    result_.devices = dispatcher_.devices(Seconds(now_));
    return std::move(result_);
  }

 private:
  Seconds now() const { return Seconds(now_); }

  void wait_for_worker(Machine& machine) const {
    machine.ready_at = now_ + machine.device().warm_up.count();
    machine.ready = machine.ready_at <= now_;
  }

  void add(JobKey id) {
    const bool whole = options_.unit == SimUnit::file;
    const SimJob& job = jobs_[id];
    dispatcher_.add_job(id, {.audio = job.believed, .whole = whole}, {});
    left_[id] = whole ? 1 : static_cast<std::int64_t>(std::ceil(job.audio / options_.window - 1e-9));
    left_[id] = std::max<std::int64_t>(left_[id], 1);
    ++unfinished_;
    dispatcher_.offer(id, whole ? job.believed : std::min(options_.window, job.audio), 1, {});
  }

  /// A file that is begun is decoded: its length is known, and all its windows can start.
  void begun(JobKey id) {
    const auto windows = left_[id];
    dispatcher_.correct_length(id, jobs_[id].audio, now());
    dispatcher_.offer(id, options_.window, windows - 2, now());
    if (windows > 1)
      dispatcher_.offer(id, jobs_[id].audio - options_.window * static_cast<double>(windows - 1), 1, now());
  }

  void pump() {
    while (auto grant = dispatcher_.next(now())) {
      ++result_.grants;
      Machine& machine = machines_[grant->device];
      if (!grant->canary && options_.unit == SimUnit::window && !begun_[grant->job]) {
        begun_[grant->job] = true;
        begun(grant->job);
      }
      if (!grant->canary && options_.unit == SimUnit::file) grant->audio = jobs_[grant->job].audio;
      if (machine.gone)
        fail(*grant, Blame::device);
      else
        machine.start(*grant);
    }
  }

  double next_event() const {
    double next = kNever;
    for (const auto& machine : machines_) {
      next = std::min(next, now_ + machine.next_done());
      if (!machine.ready) next = std::min(next, machine.ready_at);
      const auto& faults = machine.device().faults;
      if (machine.faults_seen < faults.size())
        next = std::min(next, std::max(now_, faults[machine.faults_seen].at.count()));
    }
    if (const auto wake = dispatcher_.wake_at()) next = std::min(next, std::max(now_, wake->count()));
    return next;
  }

  void happen(DeviceIndex index) {
    Machine& machine = machines_[index];
    if (!machine.ready && machine.ready_at <= now_) {
      machine.ready = true;
      dispatcher_.device_event(index, HealthEvent::ready, "its worker is ready", now());
    }
    for (const Grant& grant : machine.take_done()) finish(grant);
    const auto& faults = machine.device().faults;
    while (machine.faults_seen < faults.size() && faults[machine.faults_seen].at.count() <= now_)
      strike(index, faults[machine.faults_seen++]);
  }

  void strike(DeviceIndex index, const SimFault& fault) {
    using Kind = SimFault::Kind;
    Machine& machine = machines_[index];
    if (fault.kind == Kind::returned) {
      machine.gone = false;
      return dispatcher_.device_event(index, HealthEvent::returned, "it is back", now());
    }
    machine.gone = machine.gone || fault.kind == Kind::lost;
    for (const Grant& grant : machine.take_all())
      fail(grant, fault.why.value_or(machine.gone ? Blame::lost : Blame::device));
    if (machine.gone) return dispatcher_.device_event(index, HealthEvent::lost, "it has fallen off the bus", now());
    wait_for_worker(machine);
    if (!machine.ready) dispatcher_.device_event(index, HealthEvent::restarting, "its worker was lost", now());
  }

  void finish(const Grant& grant) {
    dispatcher_.finished(grant.id, now());
    if (grant.canary || --left_[grant.job] > 0) return;
    result_.done_at[grant.job] = now();
    last_done_ = now_;
    over(grant.job);
  }

  void fail(const Grant& grant, Blame why) {
    ++result_.failures;
    const FailureDecision decision = dispatcher_.failed(grant.id, why, "its worker was lost", now());
    if (!grant.canary && decision.next != FailureDecision::Next::retry) over(grant.job);
  }

  void over(JobKey id) {
    dispatcher_.end_job(id, now());
    --unfinished_;
  }

  std::span<const SimJob> jobs_;
  const SimOptions& options_;
  Dispatcher dispatcher_;
  std::vector<Machine> machines_{};
  std::vector<std::int64_t> left_;  // pieces of each job
  std::vector<bool> begun_ = std::vector<bool>(jobs_.size());
  std::size_t unfinished_ = 0;
  double now_ = 0;
  double last_done_ = 0;
  SimResult result_{};
};

}  // namespace

SimResult simulate(std::span<const SimJob> jobs, std::span<const SimDevice> devices, const SimOptions& options) {
  return Simulation(jobs, devices, options).run();
}

Seconds lower_bound(std::span<const SimJob> jobs, std::span<const SimDevice> devices, SimUnit unit) {
  Seconds shortest = kFullWindow, longest{}, longest_job{};
  for (const auto& job : jobs) {
    shortest = std::min(shortest, job.audio - (windows_in(job.audio) - 1) * kFullWindow);
    longest = std::max(longest, std::min(job.audio, kFullWindow));
    longest_job = std::max(longest_job, job.audio);
  }
  // Whatever is paid for windows, all of it has to be earned, and no device earns faster than with those that pay best
  // for their time. Where pay and cost are lines over the audio, these are the shortest or the longest. Every way to
  // pay is a bound.
  const auto paying = [&](const auto& price) {
    double pay = 0, earned = 0;
    for (const auto& job : jobs) pay += price(job.audio);
    for (const auto& device : devices) {
      const auto earns = [&](Seconds window) { return price(window) / std::max(cost(device, window), kDone); };
      earned += std::max(earns(shortest), earns(longest));
    }
    return earned > 0 ? pay / earned : 0;
  };
  double bound = paying([](Seconds audio) { return audio.count(); });
  double alone = kNever;
  for (const auto& device : devices) {
    bound = std::max(bound, paying([&](Seconds audio) { return cost(device, audio); }));
    alone = std::min(alone, cost(device, longest_job));
  }
  return Seconds(unit == SimUnit::window || jobs.empty() ? bound : std::max(bound, alone));
}

SimDevice plain_device(std::string id, double speed, int slots) {
  return {.facts = {.id = std::move(id), .speed = speed, .slots = slots}, .speed = speed};
}

void set_policy(Policy policy, std::vector<SimDevice>& devices, SimOptions& options) {
  options.dispatcher.policy = policy;
  const bool of_the_note = policy == Policy::note || policy == Policy::note_raw;
  options.dispatcher.jobs_at_once = of_the_note ? kNoteCap * static_cast<int>(devices.size()) : 0;
  for (SimDevice& device : devices) {
    if (of_the_note) device.facts.job_cap = kNoteCap;
    if (options.unit == SimUnit::file) device.facts.slots = of_the_note ? kNoteCap : 1;
  }
}

}  // namespace tutti
