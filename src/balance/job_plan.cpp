#include "balance/job_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti {
namespace {

constexpr double kGoodEnough = 1.0005;  // times the bound: nothing is gained by looking further
constexpr int kMostSteps = 40'000;      // steps of the exact search, a few dozen nanoseconds each
constexpr int kMostMoves = 200;

/// Work put on devices so far. A device ends when its work is done, and no earlier than its longest job alone.
class Loads {
 public:
  explicit Loads(std::span<const PlanDevice> devices) : devices_(devices), work_(devices.size()) {
    for (std::size_t i = 0; i < devices.size(); ++i) work_[i] = devices[i].free_in;
  }
  double cost(std::size_t device, double audio) const {
    return devices_[device].fixed + audio / devices_[device].speed;
  }
  double with(std::size_t device, double audio) const {
    const PlanDevice& it = devices_[device];
    return std::max(work_[device] + cost(device, audio), it.fixed + audio / it.single);
  }
  void add(std::size_t device, double audio) { work_[device] += cost(device, audio); }
  void remove(std::size_t device, double audio) { work_[device] -= cost(device, audio); }
  double end(std::size_t device) const { return work_[device]; }
  std::size_t size() const { return work_.size(); }
  bool alike(std::size_t a, std::size_t b) const {
    const PlanDevice &x = devices_[a], &y = devices_[b];
    return x.speed == y.speed && x.single == y.single && x.fixed == y.fixed && work_[a] == work_[b];
  }

 private:
  std::span<const PlanDevice> devices_;
  std::vector<double> work_;
};

struct Problem {
  std::span<const double> audio;
  std::span<const PlanDevice> devices;
  double bound;
};

/// When everything ends, a single job's own rate considered.
double end_of(const Problem& problem, const std::vector<std::size_t>& device_of) {
  Loads loads(problem.devices);
  double end = 0;
  for (std::size_t j = 0; j < device_of.size(); ++j) {
    end = std::max(end, loads.with(device_of[j], problem.audio[j]));
    loads.add(device_of[j], problem.audio[j]);
  }
  return end;
}

JobPlan longest_first(const Problem& problem) {
  Loads loads(problem.devices);
  JobPlan plan;
  for (const double audio : problem.audio) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < loads.size(); ++i)
      if (loads.with(i, audio) < loads.with(best, audio)) best = i;
    plan.end = std::max(plan.end, loads.with(best, audio));
    loads.add(best, audio);
    plan.device_of.push_back(best);
  }
  return plan;
}

/// Moves one job off the device that ends last, or swaps it for a shorter one elsewhere, where that ends earlier.
class Improvement {
 public:
  Improvement(const Problem& problem, JobPlan& plan) : problem_(problem), plan_(plan), loads_(problem.devices) {
    for (std::size_t j = 0; j < plan.device_of.size(); ++j) loads_.add(plan.device_of[j], problem.audio[j]);
  }

  bool step() {
    last_ = 0;
    for (std::size_t i = 1; i < loads_.size(); ++i)
      if (loads_.end(i) > loads_.end(last_)) last_ = i;
    for (std::size_t j = 0; j < plan_.device_of.size(); ++j)
      if (plan_.device_of[j] == last_ && (move(j) || swap(j))) return true;
    return false;
  }

 private:
  double audio(std::size_t j) const { return problem_.audio[j]; }

  bool move(std::size_t j) {
    for (std::size_t i = 0; i < loads_.size(); ++i)
      if (i != last_ && loads_.with(i, audio(j)) < loads_.end(last_) * (1 - 1e-9)) return put(j, i);
    return false;
  }

  bool swap(std::size_t j) {
    for (std::size_t k = j + 1; k < plan_.device_of.size(); ++k) {
      const std::size_t other = plan_.device_of[k];
      if (other == last_ || audio(k) >= audio(j)) continue;
      const double there = loads_.with(other, audio(j)) - loads_.cost(other, audio(k));
      const double here = loads_.with(last_, audio(k)) - loads_.cost(last_, audio(j));
      if (std::max(there, here) < loads_.end(last_) * (1 - 1e-9)) return put(k, last_) && put(j, other);
    }
    return false;
  }

  bool put(std::size_t j, std::size_t device) {
    loads_.remove(plan_.device_of[j], audio(j));
    loads_.add(device, audio(j));
    plan_.device_of[j] = device;
    return true;
  }

  const Problem& problem_;
  JobPlan& plan_;
  Loads loads_;
  std::size_t last_ = 0;
};

void improve(const Problem& problem, JobPlan& plan) {
  JobPlan tried = plan;
  Improvement improvement(problem, tried);
  for (int moves = 0; moves < kMostMoves && improvement.step(); ++moves) {
  }
  tried.end = end_of(problem, tried.device_of);
  if (tried.end < plan.end) plan = std::move(tried);
}

/// Depth first, longest job first, each device in the order of its expected finish; leaves out what cannot get better.
class ExactSearch {
 public:
  ExactSearch(const Problem& problem, JobPlan& best)
      : problem_(problem), best_(best), loads_(problem.devices), chosen_(problem.audio.size()) {
    left_.assign(problem.audio.size() + 1, 0);
    for (std::size_t j = problem.audio.size(); j-- > 0;) left_[j] = left_[j + 1] + problem.audio[j];
    for (const auto& device : problem.devices) speed_ += device.speed;
  }

  void run() { visit(0, 0); }

 private:
  bool over() const { return steps_ > kMostSteps || best_.end <= problem_.bound * kGoodEnough; }

  /// No plan can end before: what the devices have and what is left, shared out without a gap.
  double shared_out(std::size_t job) const {
    double audio = left_[job];
    for (std::size_t i = 0; i < loads_.size(); ++i) audio += loads_.end(i) * problem_.devices[i].speed;
    return audio / speed_;
  }

  void visit(std::size_t job, double end) {
    if (end >= best_.end || over()) return;
    if (job == chosen_.size()) {
      best_ = {.device_of = chosen_, .end = end};
      return;
    }
    if (shared_out(job) >= best_.end) return;
    const double audio = problem_.audio[job];
    std::vector<std::pair<double, std::size_t>> order;
    for (std::size_t i = 0; i < loads_.size(); ++i)
      if (!seen_alike(i)) order.emplace_back(loads_.with(i, audio), i);
    std::sort(order.begin(), order.end());
    for (const auto& [finish, device] : order) {
      ++steps_;
      if (finish >= best_.end) break;
      loads_.add(device, audio);
      chosen_[job] = device;
      visit(job + 1, std::max(end, finish));
      loads_.remove(device, audio);
    }
  }

  bool seen_alike(std::size_t device) const {
    for (std::size_t i = 0; i < device; ++i)
      if (loads_.alike(i, device)) return true;
    return false;
  }

  const Problem& problem_;
  JobPlan& best_;
  Loads loads_;
  std::vector<std::size_t> chosen_;
  std::vector<double> left_;  // audio of this job and all after it
  double speed_ = 0;
  int steps_ = 0;
};

}  // namespace

double plan_bound(std::span<const double> audio, std::span<const PlanDevice> devices) {
  double work = 0, speed = 0, first = std::numeric_limits<double>::infinity(), last = 0;
  for (const double it : audio) work += it;
  for (const auto& device : devices) {
    work += device.free_in * device.speed;
    speed += device.speed;
    last = std::max(last, device.free_in);
    if (!audio.empty())
      first = std::min(first, std::max(device.free_in + audio[0] / device.speed, audio[0] / device.single));
  }
  return audio.empty() ? last : std::max(first, work / speed);
}

JobPlan plan_jobs(std::span<const double> audio, std::span<const PlanDevice> devices) {
  const Problem problem{audio, devices, plan_bound(audio, devices)};
  JobPlan plan = longest_first(problem);
  if (plan.end <= problem.bound * kGoodEnough) return plan;
  improve(problem, plan);
  if (audio.size() <= kExactJobs && plan.end > problem.bound * kGoodEnough) ExactSearch(problem, plan).run();
  return plan;
}

}  // namespace tutti
