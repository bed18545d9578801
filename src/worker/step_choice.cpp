#include "worker/step_choice.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "decode/stepper.h"
#include "model/device_name.h"

namespace tutti {

std::optional<StepDevice> usual_steps(at::Device device) {
  if (!device.is_cuda()) return {};
  const char* named = std::getenv("TUTTI_STEP");
  const std::string_view way = named ? named : "";
  if (way == "eager") return {};
  if (way != "" && way != "graphs" && way != "kernels") {
    log(Level::warning, "TUTTI_STEP=" + std::string(way) + " is ignored: expected graphs, kernels or eager");
  }
  return gpu_step_device(index_of(device), way != "kernels");
}

void try_steps(const WhisperModel& model, const StepDevice& device) {
  const c10::InferenceMode no_autograd;
  const auto& dims = model.dims();
  const auto window = model.cross_kv(model.encode(at::randn({dims.n_mels, 2 * dims.n_audio_ctx})));
  const std::int32_t token = dims.n_vocab / 2;
  const SequenceStep step{.tokens = {&token, 1}, .window = &window};
  ModelStepper(model, 1, device).decode(std::span(&step, 1));
  const auto& trust = *device.trust;
  log(Level::info, !StaticStep::fits(model) || !trust.kernels ? "decoder steps: torch's operators"
                   : device.recorder && trust.recording       ? "decoder steps: CUDA graphs"
                                                              : "decoder steps: own kernels, not recorded");
}

}  // namespace tutti
