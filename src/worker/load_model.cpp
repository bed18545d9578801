#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "model/gpu.h"
#include "text/special_tokens.h"
#include "text/tokenizer_ahead.h"
#include "worker/compute_choice.h"
#include "worker/cuda_driver.h"
#include "worker/network.h"
#include "worker/trouble.h"

namespace tutti {
namespace {

// Measured on CPUs: up to eight sequences, each costs little more than a share of one. GPUs take more.
constexpr std::int32_t kCpuSlots = 8;
constexpr std::int32_t kGpuSlots = 32;

class WhisperNetwork : public Network {
 public:
  WhisperNetwork(WhisperModel model, std::vector<AttentionHead> heads)
      : model_(std::move(model)), aligner_(model_, std::move(heads)) {}

  const WhisperDims& dims() const override { return model_.dims(); }

  CrossKv encode(const at::Tensor& mel) override {
    const c10::InferenceMode no_autograd;
    auto kv = model_.cross_kv(model_.encode(mel));
    // Reading one value waits for all of it, so that the time reported is the device's and memory runs out here.
    kv.values.back().flatten()[0].item();
    return kv;
  }

  std::unique_ptr<Stepper> make_stepper(std::int32_t slots) override {
    return std::make_unique<ModelStepper>(model_, slots);
  }

  Result<Alignment> align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) override {
    return aligner_.align(window, text, tokens);
  }

 private:
  WhisperModel model_;
  Aligner aligner_;
};

Result<at::Device> device_of(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  if (name.starts_with("cuda")) {
    if (gpu::count() == 0) {
      return fail(Fault::missing, "device " + name + ": this engine sees no CUDA device", "Use --device cpu");
    }
    try {
      return at::Device(name);
    } catch (...) {
      return tl::unexpected<Error>(current_trouble(("device " + name).c_str()).error);
    }
  }
  return fail(Fault::usage, "device " + name + ": expected cpu or cuda:N");
}

Result<ComputeType> compute_type_of(const std::string& name, const at::Device& device) {
  const auto choice = choose_compute_type(name, ability_of(device));
  if (!choice) return tl::unexpected<Error>(choice.error());
  if (!choice->why.empty()) {
    log(Level::warning,
        "compute type " + name + ": " + std::string(choice->type.name()) + " is used, because " + choice->why);
  }
  return choice->type;
}

/// The ids alone: from the model's tokenizer, or from the vocabulary's size where an OpenAI .pt comes without one.
struct Ids {
  SpecialTokens special{};
  std::vector<std::int32_t> blank{};
};

Result<Ids> ids_of(const std::filesystem::path& path, TokenizerAhead& ahead, std::int32_t n_vocab) {
  constexpr std::int32_t kEnglishTexts = 50256;
  constexpr std::int32_t kMultilingual = 51865;  // smallest vocabulary with languages
  constexpr std::int32_t kBlank = 220;           // in both of OpenAI's vocabularies
  if (!std::filesystem::is_directory(path)) {
    auto special = special_tokens_for(n_vocab >= kMultilingual ? kEnglishTexts + 1 : kEnglishTexts, n_vocab);
    if (!special) return tl::unexpected<Error>(special.error());
    return Ids{.special = std::move(*special), .blank = {kBlank}};
  }
  const auto tokenizer = ahead.get(n_vocab);
  if (!tokenizer) return tl::unexpected<Error>(tokenizer.error());
  return Ids{.special = tokenizer->special(), .blank = tokenizer->encode(" ")};
}

std::optional<std::int32_t> if_present(std::int32_t id) {
  return id > 0 ? std::optional(id) : std::nullopt;
}

Result<LoadedModel> load(const LoadModel& request) {
  const auto device = device_of(request.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto type = compute_type_of(request.compute_type, *device);
  if (!type) return tl::unexpected<Error>(type.error());
  if (request.threads > 0) at::set_num_threads(request.threads);
  TokenizerAhead ahead(request.model_path);
  auto model = WhisperModel::load(request.model_path, *device, *type);
  if (!model) return tl::unexpected<Error>(model.error());
  auto ids = ids_of(request.model_path, ahead, model->dims().n_vocab);
  if (!ids) return fail_in("tokenizer of " + request.model_path, ids.error());
  const auto gpu = device->is_cuda() ? visible_cuda_device(device->has_index() ? device->index() : 0) : std::nullopt;
  auto heads = alignment_heads(request.model_path, model->dims());
  return LoadedModel{.network = make_network(std::move(*model), std::move(heads)),
                     .tokens = {.eot = ids->special.eot,
                                .timestamp_begin = ids->special.timestamp_begin,
                                .no_timestamps = if_present(ids->special.no_timestamps),
                                .no_speech = if_present(ids->special.no_speech),
                                .blank = std::move(ids->blank)},
                     .sot = ids->special.sot,
                     .languages = ids->special.multilingual ? ids->special.languages : std::vector<std::int32_t>{},
                     .slots = device->is_cuda() ? kGpuSlots : kCpuSlots,
                     .device_name = gpu ? gpu->name : "CPU",
                     .compute_type = std::string(type->name())};
}

}  // namespace

std::unique_ptr<Network> make_network(WhisperModel model, std::vector<AttentionHead> heads) {
  if (heads.empty()) heads = alignment_heads({}, model.dims());
  return std::make_unique<WhisperNetwork>(std::move(model), std::move(heads));
}

Result<LoadedModel> load_model(const LoadModel& request) {
  try {
    return load(request);
  } catch (...) {
    return tl::unexpected<Error>(current_trouble(("loading " + request.model_path).c_str()).error);
  }
}

}  // namespace tutti
