#include "jobs/job.h"

#include <array>

#include "jobs/history.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 6> kStates{"queued", "running", "done", "dead", "cancelled", "held"};
constexpr std::array<std::string_view, 6> kEnds{"running", "done", "failed", "expired", "orphaned", "handed_back"};

}  // namespace

std::string_view name_of(JobState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

std::optional<JobState> job_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == name) return static_cast<JobState>(i);
  return {};
}

std::string_view name_of(RunState state) {
  constexpr std::array<std::string_view, 4> kNames{"ended", "at_work", "lost", "unknown"};
  return kNames.at(static_cast<std::size_t>(state));
}

bool is_final(JobState state) {
  return state == JobState::done || state == JobState::dead || state == JobState::cancelled;
}

std::string_view name_of(AttemptEnd end) {
  return kEnds.at(static_cast<std::size_t>(end));
}

std::optional<AttemptEnd> attempt_end_named(std::string_view name) {
  for (std::size_t i = 0; i < kEnds.size(); ++i)
    if (kEnds[i] == name) return static_cast<AttemptEnd>(i);
  return {};
}

}  // namespace tutti
