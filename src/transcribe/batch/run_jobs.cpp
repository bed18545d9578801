#include "transcribe/batch/run_jobs.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr std::size_t kFailuresShown = 50;

BatchCounts with_those_to_come(const BatchTally& tally) {
  BatchCounts counts = tally.counts;
  counts.total += tally.to_come;
  return counts;
}

/// The length of a recording of which only the size is known.
Seconds guess(const JobSpec& spec) {
  constexpr double kUsualBytesPerSecond = 16000;  // 128 kbit/s
  return Seconds(static_cast<double>(spec.identity.bytes) / kUsualBytesPerSecond);
}

}  // namespace

BatchEntry entry_of(const Submitted& known, const BatchJob& job, std::optional<Seconds> declared) {
  return {.id = known.id,
          .state = known.state,
          .job = &job,
          .submitted = known.submitted,
          .audio = declared.value_or(guess(job.spec)),
          .declared_length = declared};
}

void RunJobs::expect(std::size_t jobs) {
  state_.with([&](State& state) { state.tally.to_come = jobs; });
}

bool RunJobs::add(const BatchEntry& entry) {
  return state_.with([&](State& state) {
    if (state.tally.to_come > 0) --state.tally.to_come;
    if (!state.entries.insert({entry.id, entry}).second) return false;
    state.tally.add(entry, entry.state);
    if (!is_final(entry.state)) state.work.add(entry.declared_length);
    return true;
  });
}

void RunJobs::all_added() {
  state_.with([](State& state) {
    state.all_added = true;
    state.tally.to_come = 0;
  });
}

BatchWork RunJobs::take_new_work() {
  return state_.with([](State& state) { return std::exchange(state.work, {}); });
}

bool RunJobs::contains(JobId job) const {
  return state_.with([&](const State& state) { return state.entries.contains(job); });
}

void RunJobs::end(JobId job, std::size_t BatchCounts::*how, std::optional<JobFailure> failure) {
  state_.with([&](State& state) {
    ++(state.tally.counts.*how);
    state.tally.open.remove(state.entries.at(job));
    if (!failure) return;
    state.failures.push_front(std::move(*failure));
    if (state.failures.size() > kFailuresShown) state.failures.pop_back();
  });
}

BatchCounts RunJobs::counts() const {
  return state_.with([](const State& state) { return with_those_to_come(state.tally); });
}

RunSnapshot RunJobs::snapshot(std::span<const BatchAttempt* const> in_work) const {
  RunSnapshot snapshot;
  Seconds done_in_work{};
  for (const BatchAttempt* attempt : in_work) {
    const JobStatus& status = snapshot.in_work.emplace_back(attempt->status());
    if (attempt->is_running()) ++snapshot.running;
    done_in_work += std::min(status.done, *status.length);
  }
  state_.with([&](const State& state) {
    const BatchTally& tally = state.tally;
    snapshot.counts = with_those_to_come(tally);
    snapshot.before = tally.before;
    snapshot.done = tally.done;
    snapshot.progress = {.done = tally.done.audio + done_in_work, .all_known = tally.to_come == 0};
    if (state.all_added && tally.open.unknown == 0)
      snapshot.progress.total = std::max(snapshot.progress.done, tally.done.audio + tally.open.audio);
    snapshot.failures = {state.failures.begin(), state.failures.end()};
  });
  return snapshot;
}

std::vector<JobId> RunJobs::left_staged() const {
  return state_.with([](const State& state) {
    std::vector<JobId> left;
    for (const auto& [id, entry] : state.entries)
      if (!entry.left_staged.empty()) left.push_back(id);
    return left;
  });
}

std::map<JobId, BatchEntry> RunJobs::take_entries() {
  return state_.with([](State& state) { return std::exchange(state.entries, {}); });
}

}  // namespace tutti
