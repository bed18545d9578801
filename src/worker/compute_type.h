#pragma once

#include <c10/core/Device.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/compute_type.h"
#include "model/decoder_step/step_device.h"
#include "model/whisper.h"

namespace tutti {

struct TypeTrial;

/// What decides which compute types a device has.
struct DeviceAbility {
  bool cuda = false;
  int capability = 0;        // compute capability of a GPU: 75 for Turing
  bool own_kernels = false;  // int8 runs in kernels of our own on the CPU
};

/// `capability` stays 0 where the GPU does not answer.
DeviceAbility ability_of(at::Device device);

/// A compute type, and why it is not the requested one; empty if it is.
struct ComputeChoice {
  ComputeType type = ComputeType::float32;
  std::string why{};
};

/// The type of that name, or the nearest that the device has. An error for a name that is none.
Result<ComputeChoice> choose_compute_type(const std::string& name, const DeviceAbility& device);

/// What a self-test's result holds for: another device, driver, build or model may decide otherwise.
struct SelfTestScope {
  std::filesystem::path model{};
  std::string device{};  // with its driver where it has one, a CPU with the threads that are used of it
  std::string build{};
};

/// The compute type for `auto`: the fastest that passes the self-test on this device, and in `why` what was found. The
/// result is kept in cache_folder() and taken from there the next time; a cache that cannot be written costs a warning.
/// Where memory does not last for the test, the device's usual type.
Result<ComputeChoice> automatic_type(const SelfTestScope& scope, at::Device device, const DeviceAbility& ability);

/// What the trials come to. Kept in `file`, unless a type among them had no memory: next time there may be more.
ComputeChoice conclude(std::span<const TypeTrial> trials, const std::filesystem::path& file);

/// What `--compute-type NAME` means for a model on a device: `auto` is automatic_type(), which may try all types first;
/// any other the type of that name, or the nearest that the device has. A line in the log names it, where it is not the
/// requested one. `build`: of this program; another one may decide otherwise.
Result<ComputeType> compute_type_for(const std::string& name, const std::filesystem::path& model, at::Device device,
                                     std::string_view build);

/// How decoder steps of a model run on its device: on a GPU static and recorded, unless TUTTI_STEP is "kernels"
/// (static, but enqueued each time), "apart" (recorded, but beams do not share their window) or "eager" (torch's
/// operators one by one), for debugging. Nothing on a CPU, whose own kernels take steps as they come.
std::optional<StepDevice> usual_steps(at::Device device);

/// What decoding needs of a window of noise.
CrossKv made_up_window(const WhisperModel& model);

/// Makes a step of a made-up window, so that a device whose static steps are unsound is found out at load. Logs what
/// steps will be.
void try_steps(const WhisperModel& model, const StepDevice& device);

}  // namespace tutti
