#include "transcribe/batch/batch_spaces.h"

#include <algorithm>

#include "base/files.h"

namespace tutti {
namespace {

BatchProgress progress_of(const BatchState& state) {
  const BatchTally& tally = state.tally;
  BatchProgress progress{.done = tally.done.audio, .all_known = tally.to_come == 0};
  for (const std::size_t index : state.in_flight) {
    const BatchAttempt& attempt = state.attempts[index];
    progress.done += std::min(Seconds(attempt.position), attempt.length);
  }
  if (state.all_added && tally.open.unknown == 0)
    progress.total = std::max(progress.done, tally.done.audio + tally.open.audio);
  return progress;
}

AttemptStatus status_of(const BatchAttempt& attempt) {
  return {.id = attempt.lease.key.job,
          .name = attempt.job->spec.name,
          .devices = attempt.engine ? attempt.engine->where() : std::string(),
          .decoded = attempt.decoded,
          .no_space = attempt.no_space,
          .publishing = attempt.publishing,
          .position = Seconds(attempt.position),
          .length = attempt.length};
}

}  // namespace

BatchSpaces::BatchSpaces(const BatchOptions& options, const std::function<void()>& changed)
    : output({{options.staging.parent_path(), "outputs"}, {options.state, "state"}},
             "what is transcribed is kept and written", changed),
      spool({{temporary_folder(), "TMPDIR"}}, "recordings are decoded there", changed) {}

std::string BatchSpaces::held_up() const {
  const std::string results = output.why(), audio = spool.why();
  return results.empty() || audio.empty() ? results + audio : results + "; " + audio;
}

void BatchSpaces::close() {
  output.close();
  spool.close();
}

RunSnapshot BatchState::snapshot() const {
  const Lock lock(mutex);
  RunSnapshot snapshot{.counts = tally.counts,
                       .before = tally.before,
                       .done = tally.done,
                       .progress = progress_of(*this),
                       .failures = {failures.begin(), failures.end()},
                       .held_up = spaces.held_up()};
  snapshot.counts.total += tally.to_come;
  for (const std::size_t index : in_flight) snapshot.in_work.push_back(status_of(attempts[index]));
  return snapshot;
}

}  // namespace tutti
