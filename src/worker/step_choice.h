#pragma once

#include <optional>

#include "model/decoder_step/step_device.h"
#include "model/whisper.h"

namespace tutti {

/// How decoder steps of a model run on its device: on a GPU static and recorded, unless TUTTI_STEP is "kernels"
/// (static, but enqueued each time) or "eager" (torch's operators one by one), for debugging. Nothing on a CPU, whose
/// own kernels take steps as they come.
std::optional<StepDevice> usual_steps(at::Device device);

/// Makes a step of a made-up window, so that a device whose static steps are unsound is found out at load. Logs what
/// steps will be.
void try_steps(const WhisperModel& model, const StepDevice& device);

}  // namespace tutti
