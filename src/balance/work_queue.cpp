#include "balance/work_queue.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr Seconds kUnknownAudio{600};  // audio of a job, where no other is known either

}  // namespace

QueueRank WorkQueue::rank(const QueuedJob& job) const {
  return queue_rank_of(job.facts, assumed(job), job.arrival, options_);
}

GroupKey WorkQueue::key_of(const QueuedJob& job) const {
  return {.rank = rank(job).rank,
          .kind = job.facts.kind,
          .whole = job.facts.whole,
          .dealt_to = job.dealt_to ? static_cast<std::int64_t>(*job.dealt_to) : -1};
}

JobGroup::Entry WorkQueue::entry_of(const QueuedJob& job) const {
  if (job.started && !job.facts.whole && job.facts.kind == JobClass::batch)
    return {static_cast<double>(job.arrival), 0, job.id};  // what is begun is brought to an end
  const QueueRank its = rank(job);
  return {its.first, its.second, job.id};
}

Seconds WorkQueue::assumed(const QueuedJob& job) const {
  if (job.facts.audio > Seconds::zero() || job.found) return job.facts.audio;  // found to be silent: nothing is left
  return std::max(job.placed + job.ready_audio, kUnknownAudio);
}

/// Never more than all: where a few recordings last longer than declared, that is chance. Expecting it of the others
/// would send the last pieces to slow devices.
double WorkQueue::found_share() const {
  constexpr double kDoubt = 4;  // recordings that are believed to be as long as declared, beside those that were looked
                                // into
  if (found_of_ <= 0) return 1;
  const auto finds = static_cast<double>(finds_);
  return std::min(1.0, (finds * found_ / found_of_ + kDoubt) / (finds + kDoubt));
}

/// Adds the job to the sums.
void WorkQueue::count(QueuedJob& job) {
  Seconds left = std::max(assumed(job) - job.placed, job.ready_audio);
  if (job.facts.whole && job.started) left = job.ready_audio;  // its one piece is in flight, or back in the queue
  if (job.ended) left = {};
  (job.found ? known_ : believed_) += (left - job.counted).count();
  job.counted = left;
  const double pieces = left <= Seconds::zero() ? 0 : job.facts.whole ? 1 : std::ceil(left / options_.piece - 1e-9);
  pieces_ += pieces - job.counted_pieces;
  job.counted_pieces = pieces;
}

Seconds WorkQueue::piece_unplaced() const {
  const double audio = std::max(0.0, known_) + std::max(0.0, believed_);
  return pieces_ >= 1 && audio > 0 ? Seconds(audio / pieces_) : options_.piece;
}

void WorkQueue::list(const QueuedJob& job) {
  if (!listed(job)) return;
  if (job.risky()) {
    risky_.insert(job.id);
    return;
  }
  JobGroup& group = groups_[key_of(job)];
  (job.started ? group.started : group.fresh).insert(entry_of(job));
}

void WorkQueue::unlist(const QueuedJob& job) {
  if (!listed(job) || risky_.erase(job.id) > 0) return;
  const auto group = groups_.find(key_of(job));
  (job.started ? group->second.started : group->second.fresh).erase(entry_of(job));
  if (group->second.started.empty() && group->second.fresh.empty()) groups_.erase(group);
}

template <class How>
void WorkQueue::change(JobKey id, How&& how) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end()) return;
  QueuedJob& job = at->second;
  unlist(job);
  ready_ -= job.ready_audio.count();
  how(job);
  count(job);
  ready_ += job.ready_audio.count();
  list(job);
}

void WorkQueue::add(JobKey id, JobFacts facts, std::optional<DeviceIndex> dealt_to) {
  const auto [at, is_new] = jobs_.try_emplace(id);
  if (!is_new) return;
  at->second.id = id;
  at->second.facts = facts;
  at->second.believed = at->second.facts.audio;
  at->second.arrival = arrivals_++;
  at->second.dealt_to = dealt_to;
  count(at->second);
}

QueuedJob* WorkQueue::find(JobKey id) {
  const auto at = jobs_.find(id);
  return at == jobs_.end() ? nullptr : &at->second;
}

void WorkQueue::correct_length(JobKey id, Seconds audio) {
  change(id, [&](QueuedJob& job) {
    if (!job.found) {
      believed_ -= job.counted.count();
      known_ += job.counted.count();
    }
    if (job.believed > Seconds::zero()) {
      if (!job.found) {
        found_of_ += job.believed.count();
        ++finds_;
      }
      found_ += (audio - job.found.value_or(Seconds{})).count();
    }
    job.found = audio;
    job.facts.audio = audio;
  });
}

void WorkQueue::offer(JobKey id, ReadyPieces pieces) {
  if (pieces.count <= 0) return;
  change(id, [&](QueuedJob& job) {
    if (job.ended) return;
    if (!job.ready.empty() && job.ready.back().audio == pieces.audio && !job.ready.back().risky)
      job.ready.back().count += pieces.count;
    else
      job.ready.push_back(pieces);
    job.ready_audio += pieces.audio * static_cast<double>(pieces.count);
    if (job.facts.whole) job.facts.audio = job.placed + job.ready_audio;
  });
}

void WorkQueue::put_back(JobKey id, ReadyPieces piece) {
  change(id, [&](QueuedJob& job) {
    --job.in_flight;
    job.placed -= piece.audio;
    if (job.ended) return;
    job.ready_audio += piece.audio;
    job.ready.insert(job.ready.begin(), std::move(piece));
  });
  forget_when_over(id);
}

void WorkQueue::withdraw(JobKey id) {
  change(id, [](QueuedJob& job) {
    job.ready.clear();
    job.ready_audio = {};
  });
}

void WorkQueue::end(JobKey id) {
  const auto at = jobs_.find(id);
  if (at == jobs_.end() || at->second.ended) return;
  change(id, [&](QueuedJob& job) {
    job.ready.clear();
    job.ready_audio = {};
    job.ended = true;
  });
  if (at->second.started) --in_work_;
  forget_when_over(id);
}

void WorkQueue::defer(JobKey id) {
  const QueuedJob* resting = find(id);
  if (!resting || resting->ended || !resting->started || resting->in_flight > 0) return;
  change(id, [](QueuedJob& job) {
    job.ready.clear();
    job.ready_audio = {};
    job.placed = {};
    job.started = false;
  });
  --in_work_;
}

void WorkQueue::clear_blame(DeviceIndex device) {
  for (const JobKey id : risky_)
    for (ReadyPieces& piece : jobs_.at(id).ready) std::erase(piece.took_down, device);
}

void WorkQueue::forget_when_over(JobKey id) {
  const auto at = jobs_.find(id);
  if (at != jobs_.end() && at->second.ended && at->second.in_flight == 0) jobs_.erase(at);
}

void WorkQueue::start(QueuedJob& job) {
  job.started = true;
  ++in_work_;
}

ReadyPieces WorkQueue::take(JobKey id) {
  ReadyPieces taken;
  change(id, [&](QueuedJob& job) {
    taken = job.ready.front();
    taken.count = 1;
    if (--job.ready.front().count == 0) job.ready.erase(job.ready.begin());
    job.ready_audio = job.ready.empty() ? Seconds{} : job.ready_audio - taken.audio;
    job.placed += taken.audio;
    ++job.in_flight;
    if (!job.started) start(job);
  });
  return taken;
}

void WorkQueue::landed(JobKey id) {
  change(id, [](QueuedJob& job) { --job.in_flight; });
  forget_when_over(id);
}

}  // namespace tutti
