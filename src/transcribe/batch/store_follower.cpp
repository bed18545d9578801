#include "transcribe/batch/store_follower.h"

#include <chrono>
#include <thread>

#include "base/idle_timer.h"
#include "base/log.h"
#include "base/random/kernel_random.h"
#include "base/try.h"

namespace tutti {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kPage = 500;
constexpr std::size_t kEnough = 300;  // jobs of this run that have not ended: others want some, too

}  // namespace

Result<void> StoreFollower::follow(const Clock& clock) {
  IdleTimer timer(options_.idle_timeout);
  auto last_work = clock.now();
  while (!stopped_()) {
    const auto taken = open() < kEnough ? take_page() : Result<bool>(false);
    if (!taken && taken.error().fault != Fault::unavailable) return tl::unexpected(taken.error());
    if (!taken) log(Level::warning, "the store: " + taken.error().text());
    const bool is_idle = taken && open() == 0;
    if (!is_idle) last_work = clock.now();
    if (!is_idle) timer.busy();
    const bool is_round = last_ == 0;  // the next page is the first one again
    if (is_idle && is_round && timer.found_empty(clock.now(), last_work)) break;
    if (is_round || !taken || open() >= kEnough) wait();
  }
  jobs_.queue().all_added();
  return {};
}

std::size_t StoreFollower::open() const {
  const BatchCounts counts = jobs_.jobs().counts();
  return counts.total - counts.ended();
}

Result<bool> StoreFollower::take_page() {
  const auto page = TRY(run_.admin.jobs(own_, last_, kPage));
  last_ = page.size() < kPage ? 0 : page.back().id;  // then from the first one on again
  std::vector<BatchEntry> taken;
  for (const Job& job : page) {
    if (jobs_.jobs().contains(job.id)) continue;
    TRY(expect_writable(job.spec));
    const BatchJob& known = taken_.emplace_back(BatchJob{job.spec, options_.formats});
    taken.push_back(entry_of({job.id, Submitted::What::kept, job.state, job.submitted}, known, job.spec.audio));
  }
  jobs_.queue().add(taken);
  if (page.empty() && !has_others_) TRY(look_at_others());
  return !taken.empty();
}

Result<void> StoreFollower::expect_writable(const JobSpec& spec) {
  if (!is_object(spec.key) || writable_.contains(spec.batch)) return {};
  auto* objects = TRY(expect_objects(objects_, spec.key));
  TRY(objects->expect_writable(spec.batch));
  writable_.insert(spec.batch);
  return {};
}

/// Once: a user who has started it with another model finds out why it does nothing.
Result<void> StoreFollower::look_at_others() {
  const auto all = TRY(run_.admin.counts({.states = own_.states}));
  const auto own = TRY(run_.admin.counts(own_));
  has_others_ = all.queued > own.queued;
  if (has_others_)
    log(Level::warning, "jobs of the store that are requested with another model or other options: " +
                            std::to_string(all.queued - own.queued) + ". They are left to those who requested them");
  return {};
}

void StoreFollower::wait() const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(0.5 + random_fraction());
  while (!stopped_() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(50ms);
}

}  // namespace tutti
