#include "transcribe/pool/restart_policy.h"

#include <algorithm>
#include <cmath>

#include "link/session.h"

namespace tutti {

/// The worker's errors begin with its name, which here comes before the count.
Error RestartPolicy::exhausted(const std::string& what, int starts, Error error) const {
  const std::string name = worker_ + ": ";
  const std::string last = error.what.starts_with(name) ? error.what.substr(name.size()) : error.what;
  error.what = name + what + " in " + std::to_string(starts) + " starts in a row; the last time " + last;
  return error;
}

RestartPolicy::Decision RestartPolicy::ended(const Error& error, const WorkerRun& run) {
  was_ever_ready_ |= run.was_ready;
  failed_starts_ = run.was_ready ? 0 : failed_starts_ + 1;
  without_work_ = run.has_finished_work ? 0 : without_work_ + 1;
  short_runs_ = run.was_ready && run.lasted > limits_.long_run ? 0 : short_runs_ + 1;
  if (!run.was_ready && is_permanent(error.fault)) return {.give_up = error};
  const int most = was_ever_ready_ ? limits_.failed_starts : std::max(limits_.failed_starts, limits_.first_starts);
  if (most > 0 && failed_starts_ >= most)
    return {.give_up = exhausted("could not be made ready", failed_starts_, error)};
  if (limits_.restarts_without_work > 0 && without_work_ >= limits_.restarts_without_work)
    return {.give_up = exhausted("finished nothing", without_work_, error)};
  if (run.was_ready && short_runs_ <= 1) return {};
  return {.wait = std::min(limits_.longest_wait, limits_.first_wait * std::exp2(short_runs_ - 1))};
}

}  // namespace tutti
