#include "balance/types.h"

namespace tutti {

std::string_view name_of(Idle why) {
  switch (why) {
    case Idle::no_job: return "no_task";
    case Idle::input: return "waiting_for_input";
    case Idle::memory: return "memory";
    case Idle::cap: return "cap";
    case Idle::fault: return "fault";
    case Idle::starting: return "starting";
    case Idle::left_to_faster: return "left_to_faster";
    case Idle::drained: return "drained";
    case Idle::disk_full: return "disk_full";
    case Idle::not_writable: return "not_writable";
    case Idle::stalled: return "waiting_for_stalled";
    case Idle::put_off: return "put_off";
    case Idle::awaiting_answer: return "waiting_for_answer";
  }
  return "no_task";
}

std::string_view name_of(Policy policy) {
  switch (policy) {
    case Policy::tutti: return "tutti";
    case Policy::note: return "note";
    case Policy::note_raw: return "note_raw";
    case Policy::fifo: return "fifo";
    case Policy::round_robin: return "round_robin";
  }
  return "tutti";
}

std::optional<Policy> policy_named(std::string_view name) {
  for (const Policy policy : kPolicies)
    if (name == name_of(policy)) return policy;
  return {};
}

}  // namespace tutti
