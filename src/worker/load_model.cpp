#include <ATen/Context.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/try.h"
#include "decode/decoding_tokens.h"
#include "device/machine.h"
#include "hub/memory_plan.h"
#include "model/checked_encoder.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "model/work.h"
#include "text/files/vocabulary_files.h"
#include "text/special_tokens.h"
#include "text/tokenizer.h"
#include "worker/caught_fault.h"
#include "worker/compute_type.h"
#include "worker/cuda_driver.h"
#include "worker/network.h"
#include "worker/self_test.h"

namespace tutti {
namespace {

// Beams that memory is kept for where the batch size is left to us: the command line's default.
constexpr std::int64_t kUsualBeams = 5;

/// Windows that a side stream fills.
class SideEncoding : public Encoding {
 public:
  SideEncoding(gpu::SideStream& side, std::vector<CrossKv> windows) : side_(side), windows_(std::move(windows)) {}
  bool done() override { return side_.done(); }
  std::vector<CrossKv> take() override {
    side_.wait();
    return std::move(windows_);
  }

 private:
  gpu::SideStream& side_;
  std::vector<CrossKv> windows_;
};

/// Tokens a slot holds: as requested, at most the model's.
std::int32_t positions_of(std::int32_t requested, const WhisperDims& dims) {
  return requested > 0 ? std::min(requested, dims.n_text_ctx) : dims.n_text_ctx;
}

class WhisperNetwork : public Network {
 public:
  WhisperNetwork(WhisperModel model, std::vector<AttentionHead> heads, std::int32_t text_positions)
      : model_(std::move(model)),
        text_positions_(positions_of(text_positions, model_.dims())),
        aligner_(model_, std::move(heads)),
        steps_(usual_steps(model_.device())),
        encoder_(model_, steps_ && steps_->recorder ? gpu::make_recorder(index_of(model_.device())) : nullptr),
        side_(steps_ ? gpu::make_side_stream(index_of(model_.device())) : nullptr) {
    if (side_) gpu::use_urgent_stream(index_of(model_.device()));
    if (steps_) try_steps(model_, *steps_);
  }

  const WhisperDims& dims() const override { return model_.dims(); }

  std::int32_t text_positions() const override { return text_positions_; }

  /// A GPU's steps and encodings have one shape, for which they are recorded.
  bool takes_short_windows() const override { return model_.device().is_cpu() && !steps_; }

  CrossKv encode(const at::Tensor& mel) override { return encode_batch(mel.unsqueeze(0)).front(); }

  at::Tensor make_mels(std::int64_t windows) const override {
    const auto device = model_.device();
    const auto type = device.is_cuda() ? layout_of(model_.type(), device).activations : at::kFloat;
    return at::empty({windows, dims().n_mels, 2 * std::int64_t{dims().n_audio_ctx}},
                     at::TensorOptions(type).pinned_memory(device.is_cuda()));
  }

  std::vector<CrossKv> encode_batch(const at::Tensor& mels) override {
    auto windows = encoder_.encode(mels);
    // So that the time reported is the device's, and what fails there fails here.
    if (model_.device().is_cuda()) gpu::synchronize(index_of(model_.device()));
    return windows;
  }

  bool encodes_beside_steps() const override { return side_ != nullptr; }

  std::unique_ptr<Encoding> begin_encoding(const at::Tensor& mels) override {
    std::vector<CrossKv> windows;
    side_->run([&] { windows = encoder_.encode(mels); });
    return std::make_unique<SideEncoding>(*side_, std::move(windows));
  }

  std::unique_ptr<Stepper> make_stepper(std::int32_t slots, std::int32_t beams) override {
    const auto steps = steps_ ? std::optional(with_beams(*steps_, beams)) : std::nullopt;
    return std::make_unique<ModelStepper>(model_, slots, steps, text_positions_);
  }

  bool has_first_uses() const override { return steps_.has_value(); }

  std::int32_t prepare(Stepper& stepper) override {
    const auto sizes = stepper.prepare(made_up_window(model_), 1, stepper.slots());
    gpu::release_cached_memory();  // what was compared with took it
    return sizes;
  }

  std::int32_t prepare_encoder(std::int32_t most) override {
    const auto sizes = encoder_.prepare(most);
    gpu::release_cached_memory();
    return sizes;
  }

  void release_memory() override {
    if (!model_.device().is_cuda()) return;
    try {
      if (side_) side_->wait();  // it may be within a recording
      encoder_.stop_recording();
      gpu::release_cached_memory();
    } catch (const std::exception& error) {
      // A lost device: the next call of it fails as well, and that one is answered.
      log(Level::warning, std::string("memory could not be released: ") + error.what());
    }
  }

  Result<TokenTimes> align(const CrossKv& window, const AlignmentText& text, const DecodingTokens& tokens) override {
    return aligner_.align(window, text, tokens);
  }

 private:
  WhisperModel model_;
  std::int32_t text_positions_;
  Aligner aligner_;
  std::optional<StepDevice> steps_;
  CheckedEncoder encoder_;
  std::shared_ptr<gpu::SideStream> side_;
};

/// The ids alone: from the model's tokenizer, or from the vocabulary's size where an OpenAI .pt comes without one.
struct Ids {
  SpecialTokens special{};
  std::vector<std::int32_t> blank{};
};

Result<Ids> ids_of(const std::filesystem::path& path, TokenizerAhead& ahead, std::int32_t n_vocab) {
  constexpr std::int32_t kBlank = 220;  // in both of OpenAI's vocabularies
  if (!std::filesystem::is_directory(path)) {
    auto special =
        TRY(special_tokens_for(n_vocab > kEnglishVocabulary ? kMultilingualTextTokens : kEnglishTextTokens, n_vocab));
    return Ids{.special = std::move(special), .blank = {kBlank}};
  }
  const auto tokenizer = TRY(ahead.get(n_vocab));
  return Ids{.special = tokenizer.special(), .blank = tokenizer.blank()};
}

ModelShape shape_of(const WhisperDims& dims) {
  return {.n_mels = dims.n_mels,
          .audio_positions = dims.n_audio_ctx,
          .text_positions = dims.n_text_ctx,
          .vocabulary = dims.n_vocab,
          .state = dims.n_text_state,
          .audio_layers = dims.n_audio_layer,
          .text_layers = dims.n_text_layer};
}

std::optional<Bytes> free_memory(const at::Device& device) {
  if (device.is_cuda()) {
    const auto memory = gpu::memory(index_of(device));
    return memory ? std::optional(memory->free) : std::nullopt;
  }
  const auto memory = read_memory();
  return memory ? std::optional(memory->available) : std::nullopt;
}

/// The memory that is still to be taken: the weights are loaded already.
MemoryPlan plan_beside_weights(const LoadModel& request, const WhisperModel& model) {
  auto plan = memory_plan(shape_of(model.dims()), sizes_on(model.device(), model.type()), request.text_positions);
  plan.weights = {};
  return plan;
}

/// Windows that can step together in so much of what is free; at least one is tried.
std::int32_t fitting(const MemoryPlan& plan, Bytes free, const LoadModel& request, std::int64_t beams) {
  return std::max(1, slots_that_fit(plan, free, beams, request.deterministic ? kFixedRows : 0));
}

/// How many windows together a worker of so many slots may encode: as many as have memory.
std::int32_t encoded_together_for(const LoadModel& request, const WhisperModel& model, std::int32_t slots) {
  const auto device = model.device();
  const auto free = device.is_cuda() && !request.deterministic ? free_memory(device) : std::nullopt;
  if (!free) return 1;
  return encoded_together(plan_beside_weights(request, model), *free, slots, std::max(1, request.beams));
}

/// As requested, or what the device does best and memory holds, with some left for what torch keeps.
std::int32_t batch_size_for(const LoadModel& request, const WhisperModel& model) {
  const auto device = model.device();
  const std::int32_t best = device.is_cuda() ? kUsualGpuSlots : kUsualCpuSlots;
  const auto free = free_memory(device);
  if (!free) return request.batch_size > 0 ? request.batch_size : best;
  const auto plan = plan_beside_weights(request, model);
  if (request.batch_size == 0) {
    const Bytes usable{static_cast<std::int64_t>(static_cast<double>(free->value) * kUsableShare)};
    return std::min(fitting(plan, usable, request, kUsualBeams), best);
  }
  const auto all = fitting(plan, *free, request, 1);
  if (all < request.batch_size) {
    log(Level::warning, "batch size " + std::to_string(request.batch_size) + ": memory is free for " +
                            std::to_string(all) + " windows; it is halved where it runs out");
  }
  return request.batch_size;
}

/// What cuDNN finds fastest by the clock may round otherwise in the next worker.
void forbid_tuning(at::Device device) {
  if (!device.is_cuda()) return;
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);  // nor what the self-test found in this one
}

/// 0 where it cannot be found out: the requester can do without.
double timed(const WhisperModel& model) {
  try {
    return time_of_window(model);
  } catch (...) {
    const auto fault = caught_fault("timing a window");
    if (fault.fatal) throw;
    log(Level::warning, fault.error.text());
    return 0;
  }
}

Result<LoadedModel> load(const LoadModel& request, std::string_view build) {
  const auto device = TRY(device_named(request.device));
  set_compute_threads(request.threads, read_cpu().cores);
  const auto type = TRY(compute_type_for(request.compute_type, request.model_path, device, build));
  TokenizerAhead ahead(request.model_path);
  auto model = TRY(WhisperModel::load(request.model_path, device, type));
  if (request.deterministic) forbid_tuning(device);
  auto ids = ids_of(request.model_path, ahead, model.dims().n_vocab);
  if (!ids) return fail_in("tokenizer of " + request.model_path, ids.error());
  auto tokens = decoding_tokens(ids->special, std::move(ids->blank), model.dims().n_vocab);
  if (!tokens) return fail_in("tokenizer of " + request.model_path, tokens.error());
  const auto gpu = device.is_cuda() ? visible_cuda_device(index_of(device)) : std::nullopt;
  auto heads = alignment_heads(request.model_path, model.dims());
  const double window_seconds = request.time_a_window ? timed(model) : 0;
  if (device.is_cuda()) gpu::release_cached_memory();  // what torch keeps of loading would count as taken
  const auto batch_size = batch_size_for(request, model);
  const auto encoded_together = encoded_together_for(request, model, batch_size);
  return LoadedModel{.network = make_network(std::move(model), std::move(heads), request.text_positions),
                     .tokens = std::move(*tokens),
                     .sot = ids->special.sot,
                     .languages = ids->special.multilingual ? ids->special.languages : std::vector<std::int32_t>{},
                     .slots = batch_size,
                     .beams = std::max(1, request.beams),
                     .encoded_together = encoded_together,
                     .deterministic = request.deterministic,
                     .device_name = gpu ? gpu->name : "CPU",
                     .compute_type = std::string(type.name()),
                     .window_seconds = window_seconds};
}

}  // namespace

std::unique_ptr<Network> make_network(WhisperModel model, std::vector<AttentionHead> heads,
                                      std::int32_t text_positions) {
  if (heads.empty()) heads = alignment_heads({}, model.dims());
  return std::make_unique<WhisperNetwork>(std::move(model), std::move(heads), text_positions);
}

Result<LoadedModel> load_model(const LoadModel& request, std::string_view build) {
  try {
    return load(request, build);
  } catch (...) {
    return tl::unexpected<Error>(caught_fault(("loading " + request.model_path).c_str()).error);
  }
}

}  // namespace tutti
