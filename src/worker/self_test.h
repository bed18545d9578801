#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "model/compute_type.h"
#include "model/whisper.h"
#include "worker/caught_fault.h"
#include "worker/compute_type.h"

namespace tutti {

/// What one compute type made of the self-test.
struct TypeTrial {
  ComputeType type = ComputeType::float32;
  double seconds = 0;  // for a window: encoding, and a hundred tokens in a batch of eight
  /// Cosine of encoder output and of logits to float32's, the smaller; NaN where they are no numbers.
  double likeness = 1;
  bool no_memory = false;  // for this type at that moment; then `likeness` is NaN and `seconds` means nothing
};

/// Types whose results are less like float32's than this are not trusted. A valid int8 stays above 0.999 on speech; the
/// window of the test is made up, and what is to be found are kernels that are wrong on a machine.
inline constexpr double kAlike = 0.995;

/// The smaller of two cosines; one that is no number is smaller than any.
double lesser_likeness(double one, double other);

/// Whether the self-test goes on without a type whose trial met this. A device that is lost is so for every type; of
/// float32, which all are compared with, it takes no more than memory that does not last.
bool can_leave_out(ComputeType type, const CaughtFault& fault);

/// Loads the model once for every compute type that the device has, float32 first, and has each encode a made-up window
/// and decode a few tokens of it. Takes seconds for a small model, minutes for a large one on a CPU. A type that the
/// device cannot run after all is left out, with a line in the log; one that memory did not last for is there without
/// results. Fault::exhausted where memory does not even last for float32. One thread: the only one that calls torch.
/// Throws what torch throws where `can_leave_out` returns false.
Result<std::vector<TypeTrial>> try_types(const std::filesystem::path& model, at::Device device,
                                         const DeviceAbility& ability);

/// Seconds of the device for a window of the model (window_time). Throws what torch throws.
double time_of_window(const WhisperModel& model);

/// Sequences of a decoder step that `window_time` times.
inline constexpr std::int32_t kTimedTogether = 8;

/// Seconds of the device for a window of speech: `encode()`, and its share of the steps in which a hundred tokens are
/// decoded for each of eight windows. `step()` makes one such step. The fastest of several calls counts, since other
/// work on the machine delays some of them, and of steps there are as many as a window takes: the result is never more
/// than what the calls took.
Seconds window_time(const std::function<void()>& encode, const std::function<void()>& step,
                    const Clock& clock = Clock::real());

/// The fastest of the valid ones. trials: not empty, float32's first.
const TypeTrial& fastest_alike(std::span<const TypeTrial> trials);

}  // namespace tutti
