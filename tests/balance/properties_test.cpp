#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "balance/dispatcher.h"
#include "driving.h"
#include "support/seeds.h"

// What must hold whatever happens, in whatever order.
namespace tutti {
namespace {

constexpr Bytes kPiece{300'000'000};

/// A dispatcher with random devices, jobs and faults in virtual time, and a separate record to check it by.
class Storm {
 public:
  explicit Storm(std::uint64_t seed)
      : dice_(seed),
        jobs_at_once_(dice_.coin() ? 6 : 0),
        dispatcher_({.jobs_at_once = jobs_at_once_, .least_headroom = {0}}) {
    for (int m = dice_.between(1, 6); m > 0; --m) {
      DeviceFacts facts = device("device " + std::to_string(facts_.size()), dice_.between(3, 60), dice_.between(1, 5));
      if (dice_.coin()) facts.job_cap = dice_.between(1, 3);
      if (dice_.coin()) facts.memory = Bytes{dice_.between(4, 40) * 100'000'000LL};
      facts.piece_memory = kPiece;
      facts_.push_back(facts);
      dispatcher_.add_device(facts, {});
    }
    foreign_.resize(facts_.size());
    for (int n = dice_.between(1, 25); n > 0; --n) add();
  }

  void run() {
    for (int step = 0; step < 250 && !::testing::Test::HasFailure(); ++step) {
      take();
      check();
      now_ += dice_.between(1, 40) / 10.0;
      for (int i = dice_.between(0, 2); i >= 0; --i) something();
    }
    calm_down();
  }

 private:
  struct Mine {
    bool whole = false;
    int pieces = 0;  // not done yet
    bool ended = false;
  };

  void add() {
    const JobKey id = mine_.size();
    const JobClass kinds[] = {JobClass::interactive, JobClass::normal, JobClass::batch};
    Mine job{.whole = dice_.coin(), .pieces = 1};
    const double audio = dice_.between(5, 400);
    dispatcher_.add_job(
        id,
        {.kind = kinds[dice_.between(0, 2)], .queued_at = Seconds(now_), .audio = Seconds(audio), .whole = job.whole},
        Seconds(now_));
    if (!job.whole) job.pieces = dice_.between(1, 12);
    const double each = job.whole ? audio : 30;
    dispatcher_.correct_length(id, Seconds(each * job.pieces), Seconds(now_));
    dispatcher_.offer(id, Seconds(each), job.pieces, Seconds(now_));
    mine_.push_back(job);
  }

  void take() {
    while (const auto grant = dispatcher_.next(Seconds(now_))) {
      ASSERT_FALSE(running_.contains(grant->id)) << "granted twice";
      running_.emplace(grant->id, *grant);
      ASSERT_FALSE(out_.contains(grant->device)) << "placed on a device that is out";
      if (grant->canary) continue;
      ASSERT_FALSE(mine_[grant->job].ended) << "placed although it has ended";
      if (const auto memory = facts_[grant->device].memory) {
        const auto view = dispatcher_.devices(Seconds(now_))[grant->device];
        ASSERT_LE(view.reserved.value + foreign_[grant->device].value, memory->value / 20 * 19 + 20) << "memory";
      }
      check();
    }
  }

  /// No limit is passed.
  void check() {
    std::map<DeviceIndex, int> pieces;
    std::map<DeviceIndex, std::set<JobKey>> jobs;
    std::map<JobKey, int> of_job;
    for (const auto& [id, running] : running_) {
      ++pieces[running.device];
      if (running.canary) continue;
      jobs[running.device].insert(running.job);
      ++of_job[running.job];
    }
    for (DeviceIndex i = 0; i < facts_.size(); ++i) {
      EXPECT_LE(pieces[i], facts_[i].slots);
      if (facts_[i].job_cap) {
        EXPECT_LE(static_cast<int>(jobs[i].size()), *facts_[i].job_cap);
      }
    }
    if (jobs_at_once_ > 0) {
      EXPECT_LE(static_cast<int>(of_job.size()), jobs_at_once_);
    }
    for (const auto& [job, count] : of_job) EXPECT_LE(count, mine_[job].pieces) << "more pieces than it has";
    const auto views = dispatcher_.devices(Seconds(now_));
    for (const auto& view : views) {
      EXPECT_NEAR((view.busy + view.idle.sum()).count(), view.in_service.count(), 1e-6) << "time is missing";
    }
  }

  void land(Grant grant, bool good) {
    running_.erase(grant.id);
    if (good) {
      dispatcher_.finished(grant.id, Seconds(now_));
      if (!grant.canary && --mine_[grant.job].pieces == 0) end(grant.job);
      return;
    }
    const Blame classes[] = {Blame::lost,      Blame::device,    Blame::unclear,
                             Blame::exhausted, Blame::cancelled, Blame::permanent};
    const FailureDecision result = dispatcher_.failed(grant.id, classes[dice_.between(0, 5)], "storm", Seconds(now_));
    if (!grant.canary && result.next != FailureDecision::Next::retry) end(grant.job);
  }

  void end(JobKey id) {
    dispatcher_.end_job(id, Seconds(now_));
    mine_[id].ended = true;
    std::erase_if(running_, [&](const auto& it) {
      if (it.second.canary || it.second.job != id) return false;
      dispatcher_.finished(it.first, Seconds(now_));
      return true;
    });
  }

  void something() {
    const auto device = static_cast<DeviceIndex>(dice_.between(0, static_cast<int>(facts_.size()) - 1));
    switch (dice_.between(0, 9)) {
      case 0: add(); break;
      case 1:
        foreign_[device] = {dice_.between(0, 20) * 100'000'000LL};
        dispatcher_.device_memory(device, foreign_[device], Seconds(now_));
        break;
      case 2:
        dispatcher_.device_event(device, HealthEvent::lost, "storm", Seconds(now_));
        std::erase_if(running_, [&](const auto& it) { return it.second.canary && it.second.device == device; });
        out_.insert(device);
        break;
      case 3:
        dispatcher_.device_event(device, HealthEvent::returned, "storm", Seconds(now_));
        out_.erase(device);
        break;
      default:
        if (running_.empty()) break;
        auto at = running_.begin();
        std::advance(at, dice_.between(0, static_cast<int>(running_.size()) - 1));
        land(at->second, dice_.between(0, 9) > 1);
    }
  }

  /// From here on all is well: everything has to come to an end.
  void calm_down() {
    for (DeviceIndex i = 0; i < facts_.size(); ++i) {
      dispatcher_.device_memory(i, {}, Seconds(now_));
      dispatcher_.device_event(i, HealthEvent::returned, "calm", Seconds(now_));
    }
    out_.clear();
    foreign_.assign(facts_.size(), {});
    for (int step = 0; step < 20'000; ++step) {
      take();
      if (std::all_of(mine_.begin(), mine_.end(), [](const Mine& job) { return job.ended; })) return;
      if (!running_.empty())
        land(running_.begin()->second, true);
      else if (const auto wake = dispatcher_.wake_at())
        now_ = std::max(now_, wake->count());
      else
        break;
      now_ += 0.5;
    }
    ADD_FAILURE() << "something starved, or everything stopped";
  }

  Dice dice_;
  int jobs_at_once_ = 0;
  Dispatcher dispatcher_;
  std::vector<DeviceFacts> facts_{};
  std::vector<Bytes> foreign_{};
  std::vector<Mine> mine_{};
  std::map<GrantId, Grant> running_{};
  std::set<DeviceIndex> out_{};
  double now_ = 0;
};

TEST(Properties, RandomFaultsBreakNoLimitAndEveryJobEndsOnce) {
  for (const auto seed : seeds(60)) {
    TUTTI_SEED_TRACE(seed);
    Storm(seed).run();
    if (HasFailure()) return;
  }
}

TEST(Properties, NoDeviceIdlesWhileItCouldFinishAPieceBeforeTheEnd) {
  for (const auto seed : seeds(60)) {
    TUTTI_SEED_TRACE(seed);
    Dice dice(seed);
    Dispatcher dispatcher;
    std::vector<double> speeds;
    for (int m = dice.between(1, 8); m > 0; --m) {
      speeds.push_back(dice.between(5, 60));
      dispatcher.add_device(device("d", speeds.back(), dice.between(1, 4)), {});
    }
    int left = 0;
    for (JobKey id = 0; id < 12; ++id) {
      const int pieces = dice.between(1, 40);
      dispatcher.add_job(id, {.audio = Seconds(30 * pieces)}, {});
      dispatcher.offer(id, Seconds(30), pieces, {});
      left += pieces;
    }
    std::vector<Grant> running;
    for (double now = 0; left > 0; ++now) {
      for (const auto& grant : take_all(dispatcher, Seconds(now))) running.push_back(grant);
      const auto waiting = left - static_cast<int>(running.size());
      const auto views = dispatcher.devices(Seconds(now));
      double speed = 0;
      for (const auto& view : views) speed += view.speed;
      for (const auto& view : views)
        if (view.pieces == 0 && 30 / view.speed < 30 * waiting / speed) {
          ADD_FAILURE() << view.id << " idle with " << waiting << " windows waiting: " << view.refusal;
        }
      const auto at = static_cast<std::size_t>(dice.between(0, static_cast<int>(running.size()) - 1));
      dispatcher.finished(running[at].id, Seconds(now + 1));
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(at));
      --left;
    }
  }
}

TEST(Properties, EndlessHigherClassJobsStarveNoBatchJob) {
  Dispatcher dispatcher;
  dispatcher.add_device(device("d", 30, 1), {});
  add_file(dispatcher, 0, Seconds(30), {}, {.kind = JobClass::batch});
  for (int i = 1; i < 20'000; ++i) {
    const Seconds now(i);
    add_file(dispatcher, static_cast<JobKey>(i), Seconds(3000), now, {.kind = JobClass::interactive});
    const auto grant = dispatcher.next(now);
    ASSERT_TRUE(grant);
    if (grant->job == 0) {
      EXPECT_LT(i, 2 * 6 * 600 + 700) << "two classes are worth two hours";
      return;
    }
    dispatcher.finished(grant->id, now);
    dispatcher.end_job(grant->job, now);
  }
  ADD_FAILURE() << "it starved";
}

}  // namespace
}  // namespace tutti
