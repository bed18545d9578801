#include "transcribe/tally.h"

namespace tutti {

Tally::Tally(RunObserver& observer, std::size_t files, std::size_t skipped) : observer_(observer) {
  summary_.with([&](RunSummary& now) {
    now.files = files;
    now.skipped = skipped;
  });
}

void Tally::ready(const std::string& device, const std::string& compute_type, Seconds load) {
  summary_.with([&](RunSummary& now) { now.model_load = load; });
  const MutexLock lock(reporting_);
  observer_.on_ready(device, compute_type, load);
}

void Tally::decoded(std::size_t index, const Recording& recording) {
  const MutexLock lock(reporting_);
  observer_.on_decoded(index, recording);
}

void Tally::progress(std::size_t index, Seconds position, const std::vector<Segment>& fresh) {
  const MutexLock lock(reporting_);
  observer_.on_progress(index, position, fresh);
}

void Tally::done(const FileOutcome& outcome, const Transcript& transcript) {
  summary_.with([&](RunSummary& now) {
    ++now.done;
    now.replaced.insert(now.replaced.end(), outcome.replaced.begin(), outcome.replaced.end());
    now.without_speech += outcome.without_speech ? 1 : 0;
    now.replacements += outcome.replacements;
    now.audio += outcome.requested;
    now.spent += outcome.spent;
    now.counts += outcome.counts;
  });
  const MutexLock lock(reporting_);
  observer_.on_done(outcome, transcript);
}

void Tally::failed(std::size_t index, const Error& error) {
  if (error.fault == Fault::cancelled) return summary_.with([](RunSummary& now) { now.interrupted = true; });
  summary_.with([](RunSummary& now) { ++now.failed; });
  const MutexLock lock(reporting_);
  observer_.on_failed(index, error);
}

void Tally::left_unfinished() {
  summary_.with([](RunSummary& now) { now.unfinished_work = true; });
}

RunSummary Tally::summary() const {
  return summary_.with([](const RunSummary& now) { return now; });
}

}  // namespace tutti
