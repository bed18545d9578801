#include "jobs/task.h"

#include <array>

namespace tutti {
namespace {

constexpr std::array<std::string_view, 6> kStates{"queued", "running", "done", "dead", "cancelled", "held"};
constexpr std::array<std::string_view, 6> kEnds{"running", "done", "failed", "expired", "orphaned", "handed_back"};

}  // namespace

std::string_view name_of(TaskState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

std::optional<TaskState> task_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kStates.size(); ++i)
    if (kStates[i] == name) return static_cast<TaskState>(i);
  return {};
}

bool is_final(TaskState state) {
  return state == TaskState::done || state == TaskState::dead || state == TaskState::cancelled;
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
