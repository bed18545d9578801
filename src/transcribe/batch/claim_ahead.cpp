#include "transcribe/batch/claim_ahead.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/try.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostAtOnce = 50;
constexpr std::size_t kShareOfSight = 16;  // others may see the same jobs
constexpr auto kHeldFor = 2s;

}  // namespace

std::size_t claims_at_once(std::size_t begun, std::size_t in_sight) {
  return std::clamp<std::size_t>(std::min(begun, in_sight / kShareOfSight), 1, kMostAtOnce);
}

Result<ClaimAhead::Taken> ClaimAhead::take(const RunQueue::NextStep& step) {
  const auto now = clock_.now();
  while (!begun_.empty() && begun_.front() <= now - 1s) begun_.pop_front();
  Result<Taken> taken = Taken{.lease = take_held(*step.job)};
  if (!taken->lease) {
    if (auto elsewhere = elsewhere_.extract(*step.job))
      taken->known = std::move(elsewhere.mapped());
    else
      taken = claim(step);
  }
  if (taken && taken->lease) begun_.push_back(now);
  return taken;
}

std::optional<Lease> ClaimAhead::take_held(JobId job) {
  return held_.with([&](auto& held) -> std::optional<Lease> {
    auto found = held.extract(job);
    if (!found) return {};
    return std::move(found.mapped().lease);
  });
}

/// Those that follow are named, too: where other runners have claimed the first ones, one call finds the next that is
/// left, and one more what became of the others.
Result<ClaimAhead::Taken> ClaimAhead::claim(const RunQueue::NextStep& step) {
  std::vector<JobId> named{*step.job};
  held_.with([&](const auto& held) {
    std::ranges::copy_if(step.ahead, std::back_inserter(named), [&](JobId job) { return !held.contains(job); });
  });
  const std::size_t most = claims_at_once(begun_.size(), step.ready);
  auto leases = TRY(leases_.claim({.jobs = named}, most));
  Taken taken;
  std::set<JobId> claimed;
  held_.with([&](auto& held) {
    for (Lease& lease : leases) {
      const JobId job = lease.key.job;
      claimed.insert(job);
      if (job == *step.job)
        taken.lease = std::move(lease);
      else
        held.insert({job, {std::move(lease), clock_.now()}});
    }
  });
  JobFilter passed_over;
  for (std::size_t i = 0, found = 0; i < named.size() && found < most; ++i)
    if (claimed.contains(named[i]))
      ++found;
    else
      passed_over.ids.push_back(named[i]);
  elsewhere_.clear();
  if (passed_over.ids.empty()) return taken;
  auto jobs = admin_.jobs(passed_over, 0, passed_over.ids.size());
  if (!jobs) return taken;  // each is looked at again in its turn
  for (Job& job : *jobs) elsewhere_.insert({job.id, std::move(job)});
  if (auto known = elsewhere_.extract(*step.job)) taken.known = std::move(known.mapped());
  return taken;
}

void ClaimAhead::release_idle() {
  release(clock_.now() - kHeldFor);
}

void ClaimAhead::release_all() {
  release(std::nullopt);
}

void ClaimAhead::release(std::optional<Clock::Instant> older_than) {
  const auto idle = held_.with([&](auto& held) {
    std::vector<LeaseKey> keys;
    std::erase_if(held, [&](const auto& each) {
      const bool goes = !older_than || each.second.since < *older_than;
      if (goes) keys.push_back(each.second.lease.key);
      return goes;
    });
    return keys;
  });
  for (const LeaseKey& key : idle)
    if (const auto released = leases_.undo_claim(key); !released)
      log(Level::error, "the store: " + released.error().text());
}

}  // namespace tutti
