#include "jobs/retry.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tutti {

std::string_view name_of(FailureClass failure) {
  constexpr std::array<std::string_view, 5> kNames{"permanent", "transient", "device", "out_of_memory", "crash"};
  return kNames.at(static_cast<std::size_t>(failure));
}

FailureClass failure_class_of(const Error& error) {
  switch (error.fault) {
    case Fault::usage:
    case Fault::missing:
    case Fault::corrupt:
    case Fault::unsupported:
    case Fault::refused: return FailureClass::permanent;
    case Fault::device: return FailureClass::device;
    case Fault::exhausted:
    case Fault::full:
    case Fault::unavailable:
    case Fault::cancelled:
    case Fault::internal: return FailureClass::transient;
  }
  return FailureClass::transient;
}

RetryDecision decide_retry(FailureClass failure, const RetryHistory& history, double dice, const RetryRules& rules) {
  if (failure == FailureClass::permanent) return {.again = false, .counted = true, .wait = {}};
  const bool forgiven = (failure == FailureClass::device && history.device_failures < rules.forgiven_device) ||
                        (failure == FailureClass::out_of_memory && history.memory_failures < rules.forgiven_memory);
  if (forgiven) return {.again = true, .counted = false, .wait = {}};
  if (history.strikes + 1 >= rules.most_strikes) return {.again = false, .counted = true, .wait = {}};
  const auto longest =
      std::min(rules.first_wait * (std::int64_t{1} << std::min(history.strikes, 20)), rules.longest_wait);
  const auto wait = std::chrono::milliseconds(static_cast<std::int64_t>(dice * static_cast<double>(longest.count())));
  return {.again = true, .counted = true, .wait = wait};
}

}  // namespace tutti
