#pragma once

#include <chrono>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Why an attempt failed, as far as trying again is concerned.
enum class FailureClass {
  permanent,      // would fail the same way everywhere: no audio in it, format unknown, a poison job
  transient,      // may pass: network, disk full, a fault of our own
  device,         // the GPU or its worker, not the job
  out_of_memory,  // did not fit; is to be tried smaller
  crash           // its owner stopped renewing the lease: what it did is not known
};
std::string_view name_of(FailureClass failure);

/// The class of an error value. Device faults are the device's; what is missing, damaged or not supported stays so.
FailureClass failure_class_of(const Error& error);

/// The failures that a job has behind it.
struct RetryHistory {
  int strikes = 0;          // failures that counted
  int device_failures = 0;  // forgiven ones of the class `device`
  int memory_failures = 0;  // forgiven ones of the class `out_of_memory`
};

/// Bounds: field evidence and reasons in scheduling's exact semantics.
struct RetryRules {
  int most_strikes = 5;     // then the job is dead
  int forgiven_device = 3;  // device failures that do not count
  int forgiven_memory = 2;  // out-of-memory failures that do not count
  std::chrono::milliseconds first_wait{10'000};
  std::chrono::milliseconds longest_wait{600'000};
};

struct RetryDecision {
  bool again = false;
  bool counted = false;  // one strike more
  std::chrono::milliseconds wait{};
};

/// Decides, purely. `dice` in [0, 1): full jitter on the doubling wait, so that what failed together does not come back
/// together.
RetryDecision decide_retry(FailureClass failure, const RetryHistory& history, double dice,
                           const RetryRules& rules = {});

}  // namespace tutti
