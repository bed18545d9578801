#pragma once

namespace tutti {

/// What the device of a training was used for over a stretch of it. All are shares, 0 to 1, weighted by time.
struct DeviceUse {
  double busy = 0;     ///< of the time: the device had something to compute
  double waiting = 0;  ///< of the time: a step waited for its batch
  double host = 0;     ///< of the steps' time: the thread that launches their work was on a processor
};

/// Why a device has little to do.
enum class LowUse {
  feed,    ///< batches come too late
  launch,  ///< the processor takes longer to launch a step's work than the device to do it
  batch,   ///< a step's work is too small for what each step costs beside it
};

/// A device that is busy for a smaller share of the time is worth a warning.
inline constexpr double kLowUse = 0.3;

/// The larger part of the idle time decides: waits for batches, or what a step costs the host. Pure.
LowUse cause_of(const DeviceUse& use);

/// What twice as large a batch gains in samples a second, as a share: the idle part of a step is there once for twice
/// as many samples, its busy part is twice as long, and waits for batches grow with them. Pure.
double gain_of_double_batch(const DeviceUse& use);

/// The most that a feed without waits can gain, as a share. Pure.
double gain_without_waits(const DeviceUse& use);

}  // namespace tutti
