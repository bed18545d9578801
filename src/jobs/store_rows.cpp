#include "jobs/store_rows.h"

#include "jobs/job_rules.h"

namespace tutti {

std::string job_columns(const std::string& cancel_requested) {
  return "id, run, key, batch, input, bytes, modified_ns, options, audio, length, class, priority, deadline, uuid, "
         "name, extra, state, attempts, strikes, progress, sha256, same_as, submitted, not_before, " +
         cancel_requested + ", device, error, device_failures, memory_failures, waits_for, failed_on, owner";
}

std::string sql_list(std::span<const JobState> states) {
  std::string list;
  for (const JobState state : states) list += (list.empty() ? "'" : ", '") + std::string(name_of(state)) + "'";
  return list;
}

std::int64_t& count_of(JobCounts& counts, std::string_view state) {
  switch (job_state_named(state).value_or(JobState::queued)) {
    case JobState::queued: return counts.queued;
    case JobState::running: return counts.running;
    case JobState::done: return counts.done;
    case JobState::dead: return counts.dead;
    case JobState::cancelled: return counts.cancelled;
    case JobState::held: break;
  }
  return counts.held;
}

std::string requeue_columns(StoreTime now, const std::string& cancel_requested) {
  // A priority may be any int, which PostgreSQL would not multiply into more than an int.
  return "state = 'queued', strikes = 0, device_failures = 0, memory_failures = 0, not_before = 0, waits_for = 0, " +
         cancel_requested +
         " = false, failed_on = '', progress = 0, published = false, submitted = " + std::to_string(ms_of(now)) +
         ", aged_from = " + std::to_string(ms_of(claim_rank({}, now).aged_from)) + " - priority * CAST(" +
         std::to_string(kAgeing.count()) + " AS bigint)";
}

}  // namespace tutti
