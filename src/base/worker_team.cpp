#include "base/worker_team.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <system_error>
#include <utility>

namespace tutti {
namespace {

using std::chrono::nanoseconds;
using Time = std::chrono::steady_clock;

// A loop in one word, so that a helper sees all of it or nothing: | helpers 16 | parts 24 | claimed parts 24 |.
constexpr int kPartsBits = 24;
constexpr std::int64_t kMostParts = (1 << kPartsBits) - 2;
constexpr std::int64_t kMostHelpers = (1 << 16) - 1;
constexpr std::uint64_t kPartsMask = (1 << kPartsBits) - 1;

struct Loop {
  explicit Loop(std::uint64_t word)
      : helpers(static_cast<std::int64_t>(word >> (2 * kPartsBits))),
        parts(static_cast<std::int64_t>(word >> kPartsBits & kPartsMask)),
        claimed(static_cast<std::int64_t>(word & kPartsMask)) {}

  std::int64_t helpers, parts, claimed;
};

/// Sleeps while `word` holds `value`, until a thread of this process calls futex_wake. May return early: check again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

/// Wakes one thread that sleeps in futex_wait of `word`. The word need not exist any more.
void futex_wake(const std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Whether this thread runs a part now: its own loops are its own then.
thread_local bool inside_part = false;

/// 4 to 140 cycles, by processor: how long a thread spins is for the clock to say.
void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks until `done()` or the time is over; returns which.
template <class Done>
bool spin(nanoseconds most, const Done& done) {
  constexpr int kLooksPerTime = 8;  // the clock takes as long as a few looks
  const auto end = Time::now() + most;
  do {
    for (int i = 0; i < kLooksPerTime; ++i) {
      if (done()) return true;
      pause();
    }
  } while (Time::now() < end);
  return false;
}

/// Lets this thread run wherever `caller` may, but not on the processor where it is now: a helper that waits there
/// wakes only when the caller has lost it, and the system moves neither, since both together need one processor's time.
/// That it cannot be moved (one processor, or the system does not allow it) is no error.
void leave_processor_of(pid_t caller, int processor) {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(caller, sizeof allowed, &allowed) != 0) return;
  CPU_CLR(static_cast<std::size_t>(processor), &allowed);
  if (CPU_COUNT(&allowed) > 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
}

pid_t this_thread() {
  static thread_local const pid_t id = static_cast<pid_t>(::syscall(SYS_gettid));
  return id;
}

}  // namespace

struct WorkerTeam::Helper {
  explicit Helper(std::int64_t at) : index(at) {}

  const std::int64_t index;
  alignas(64) std::atomic<std::uint32_t> asleep = 0;  // set by the helper, cleared by who wakes it
  std::thread thread{};
};

std::optional<std::int64_t> WorkerTeam::Claims::next() {
  if (held_ >= 0) return std::exchange(held_, -1);
  if (team_ == nullptr) return claimed_ < parts_ ? std::optional(claimed_++) : std::nullopt;
  const auto part = team_->claim(0);
  if (part) ++claimed_;
  return part;
}

WorkerTeam::WorkerTeam(Options options) : options_(std::move(options)) {}

WorkerTeam::~WorkerTeam() {
  closing_ = true;
  for (const auto& helper : helpers_) {
    helper->asleep = 0;
    futex_wake(helper->asleep);
  }
  for (const auto& helper : helpers_) helper->thread.join();
}

WorkerTeam::Totals WorkerTeam::totals() const {
  return totals_;
}

void WorkerTeam::run_body(std::int64_t parts, std::int64_t threads, Body body) {
  const bool shared = parts > 1 && parts <= kMostParts && threads > 1 && !inside_part;
  if (shared && taken_.try_lock()) {
    const MutexLock held(taken_, std::adopt_lock);
    return run_shared(parts, threads, body);
  }
  Claims all(nullptr, -1, parts);
  body.call(body.fn, all);
}

void WorkerTeam::run_shared(std::int64_t parts, std::int64_t threads, Body body) {
  const auto helpers = std::min({threads - 1, parts - 1, kMostHelpers});
  start_helpers(helpers);
  body_ = body;
  publish(parts, helpers);
  inside_part = true;
  Claims mine(this, 0, parts);
  const auto own = call(mine);
  inside_part = false;
  totals_.waited += wait_for_finished(static_cast<std::uint32_t>(parts - own));
  ++totals_.loops;
  totals_.parts += parts;
  totals_.helper_parts += parts - own;
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

/// Fewer where the system has no more threads.
void WorkerTeam::start_helpers(std::int64_t wanted) {
  while (std::ssize(helpers_) < wanted) {
    auto helper = std::make_unique<Helper>(std::ssize(helpers_));
    try {
      helper->thread = std::thread([this, me = helper.get()] { help(*me); });
    } catch (const std::system_error&) {
      return;
    }
    helpers_.push_back(std::move(helper));
  }
}

/// The caller holds the first part. A helper that falls asleep marks that before it looks for a loop once more, we
/// publish the loop before we look who sleeps: one of the two sees the other.
void WorkerTeam::publish(std::int64_t parts, std::int64_t helpers) {
  finished_.store(0, std::memory_order_relaxed);
  const auto word = static_cast<std::uint64_t>(helpers) << (2 * kPartsBits) |
                    static_cast<std::uint64_t>(parts) << kPartsBits | std::uint64_t{1};
  caller_.store(this_thread(), std::memory_order_relaxed);
  processor_.store(::sched_getcpu(), std::memory_order_relaxed);
  loop_.store(word);
  for (std::int64_t i = 0; i < std::min(helpers, std::ssize(helpers_)); ++i) {
    auto& asleep = helpers_[static_cast<std::size_t>(i)]->asleep;
    if (asleep.load() != 0 && asleep.exchange(0) != 0) futex_wake(asleep);
  }
}

/// How many parts this thread has claimed, all of which are over.
std::int64_t WorkerTeam::call(Claims& claims) {
  claims.claimed_ = 1;  // the one that it holds
  try {
    body_.call(body_.fn, claims);
  } catch (...) {
    if (!failed_.exchange(true)) failure_ = std::current_exception();
    claims.claimed_ += abandon_rest();
  }
  return claims.claimed_;
}

/// A part for this thread. A claimed part belongs to the loop of the moment, whichever was looked at before: no part of
/// it is finished before its claimer marks it, and until then the caller leaves everything as it is.
std::optional<std::int64_t> WorkerTeam::claim(std::int64_t helper) {
  auto word = loop_.load();
  for (;;) {
    const Loop loop(word);
    if (loop.claimed >= loop.parts || helper >= loop.helpers) return std::nullopt;
    if (loop_.compare_exchange_weak(word, word + 1, std::memory_order_acq_rel)) return loop.claimed;
  }
}

/// How many parts will run nowhere.
std::int64_t WorkerTeam::abandon_rest() {
  auto word = loop_.load(std::memory_order_relaxed);
  for (;;) {
    const Loop loop(word);
    const auto rest = static_cast<std::uint64_t>(loop.parts - loop.claimed);
    if (loop_.compare_exchange_weak(word, word + rest, std::memory_order_acq_rel)) return loop.parts - loop.claimed;
  }
}

nanoseconds WorkerTeam::wait_for_finished(std::uint32_t parts) {
  const auto over = [&] { return finished_.load(std::memory_order_acquire) == parts; };
  if (over()) return {};
  const auto begun = Time::now();
  if (!spin(options_.caller_spin, over)) {
    caller_sleeps_ = 1;
    for (auto now = finished_.load(); now != parts; now = finished_.load()) futex_wait(finished_, now);
    caller_sleeps_.store(0, std::memory_order_relaxed);
  }
  return Time::now() - begun;
}

void WorkerTeam::help(Helper& me) {
  inside_part = true;
  if (options_.on_helper_start) options_.on_helper_start();
  while (const auto part = wait_for_part(me)) {
    Claims claims(this, *part, 0);
    finished_.fetch_add(static_cast<std::uint32_t>(call(claims)));
    if (caller_sleeps_.load() != 0) futex_wake(finished_);
  }
}

/// Claimed; nothing when the team closes.
std::optional<std::int64_t> WorkerTeam::wait_for_part(Helper& me) {
  std::optional<std::int64_t> part;
  const auto looked = [&] { return (part = claim(me.index)) || closing_.load(); };
  for (;;) {
    if (is_beside_caller()) leave_processor_of(caller_, processor_);
    // Still there: while this thread looks, the caller cannot go on.
    if (is_beside_caller() ? looked() : spin(options_.helper_spin, looked)) return part;
    me.asleep = 1;
    if (looked()) {
      me.asleep = 0;
      return part;
    }
    while (me.asleep.load() != 0) futex_wait(me.asleep, 1);
  }
}

/// Whether this thread is on the processor from which the last loop was published.
bool WorkerTeam::is_beside_caller() const {
  return ::sched_getcpu() == processor_.load(std::memory_order_relaxed);
}

}  // namespace tutti
