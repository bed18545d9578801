#include "link/restart_policy.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace tutti {
namespace {

RestartPolicy::Decision give_up(const std::string& why, Error error) {
  error.what = why + "; the last time " + error.what;
  return {.give_up = std::move(error)};
}

}  // namespace

RestartPolicy::Decision RestartPolicy::ended(const Ending& ending, bool was_ready, bool has_finished_work) {
  failed_starts_ = was_ready ? 0 : failed_starts_ + 1;
  without_work_ = has_finished_work ? 0 : without_work_ + 1;
  if (ending.final || limits_.once) return {.give_up = ending.error};
  if (failed_starts_ >= limits_.failed_starts)
    return give_up("could not be made ready in " + std::to_string(failed_starts_) + " starts in a row", ending.error);
  if (without_work_ >= limits_.restarts_without_work)
    return give_up("finished nothing in " + std::to_string(without_work_) + " starts in a row", ending.error);
  if (without_work_ <= 1) return {};
  return {.wait = std::min(limits_.longest_wait, limits_.first_wait * std::exp2(without_work_ - 2))};
}

}  // namespace tutti
