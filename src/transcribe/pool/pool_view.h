#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "balance/dispatcher.h"
#include "balance/speed_model.h"
#include "base/error.h"
#include "base/units.h"
#include "metrics/idle.h"

namespace tutti {

/// One device at a moment. Times are of the pool's clock.
struct PooledDeviceView {
  std::string id;
  std::string name{};    // what its worker calls it, for people
  std::string state{};   // balance's word (name_of), or "failed": left out for good
  std::string reason{};  // reason of that state, in words
  Seconds since{};       // in that state
  int windows = 0;       // in flight
  int jobs = 0;          // with a window in flight here
  int slots = 0;
  std::optional<int> job_cap{};
  Bytes reserved{};                 // memory that the model and the windows in flight hold
  double speed = 0;                 // as believed
  bool speed_known = false;         // it was measured or rated; else it is only a guess
  std::optional<double> rated{};    // what it is known to do: an emulated GPU
  std::optional<double> error{};    // median relative error of the speed model's predictions
  std::vector<SpeedView> speeds{};  // as measured, by the number of windows in flight
  Seconds audio_done{};
  double windows_done = 0;  // in it
  Seconds busy{};
  IdleTime idle{};
  std::string refusal{};  // why it takes nothing more now
  std::int64_t restarts = 0;
  std::optional<Fault> gone{};              // left out for good, and by what kind of fault
  std::optional<int> process{};             // process of its worker; none: there is none now
  std::optional<MemoryLoss> memory_loss{};  // none: it has never run out of memory
};

/// A change of a device's health or of what its memory holds, and why.
struct PoolEvent {
  std::string device;
  Seconds at{};         // by the pool's clock
  std::string state{};  // PooledDeviceView::state from then on; or out_of_memory, memory_again
  std::string reason{};
};

struct PoolView {
  std::vector<PooledDeviceView> devices{};
  Seconds elapsed{};                       // since the pool was started
  std::optional<Seconds> expected_left{};  // until all jobs that were added are done; none: no device is in service
  double error = 0;                        // relative error of `expected_left`
  std::string next_device{};               // that takes the next job; empty: none can
};

/// A job gets its first device, by the engine that it has now.
struct FirstGrant {
  std::uint64_t job = 0;  // the caller's id
  std::string device;     // its id
  PoolView before{};      // what the decision found; its next_device is `device`
};

}  // namespace tutti
