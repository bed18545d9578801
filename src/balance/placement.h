#pragma once

#include <optional>

#include "balance/admission.h"

namespace tutti {

struct Placement {
  JobKey job = 0;
  DeviceIndex device = 0;
};

/// The next piece to place and where, by the policy of the scene; none where nothing can start, or should not: a slow
/// device leaves a piece alone that others bring to an end before it could.
std::optional<Placement> place(const Scene& scene);

/// Why the device takes nothing now; none when it would.
struct Refusal {
  Idle why{};
  std::string words{};
};
std::optional<Refusal> why_not(const Scene& scene, DeviceIndex device);

/// The device in service that a piece like the next one would finish on first; by the note's score under its policy.
std::optional<DeviceIndex> next_device(const Scene& scene);

}  // namespace tutti
