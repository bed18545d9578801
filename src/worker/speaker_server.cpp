#include "worker/speaker_server.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/try.h"
#include "hub/speaker_weights.h"
#include "link/shared_window.h"
#include "worker/caught_fault.h"

namespace tutti {
namespace {

constexpr const char* kSegmentation = "segmentation";
constexpr const char* kEmbedding = "embedding";

/// Inputs that are computed together on a CPU, whatever its threads: so a result does not depend on their number.
constexpr std::int64_t kWindowsTogether = 4, kPiecesTogether = 8;
/// And on a GPU: as many as come in one message.
constexpr std::int64_t kAllTogether = 1024;

}  // namespace

Result<std::vector<SpeakerServer::Batch>> SpeakerServer::batches_of(const AnalyzeSpeakers& request) {
  const bool embeds = request.network == kEmbedding;
  if (!embeds && request.network != kSegmentation)
    return fail(Fault::usage, "speakers: there is no network '" + request.network + "'");
  const std::int64_t width = embeds ? SpeakerEmbedding::kFeatures : 1;
  std::vector<Batch> batches;
  std::int64_t values = 0;
  for (const std::int32_t length : request.lengths) {
    if (embeds ? length < SpeakerEmbedding::kLeastFrames : length != SpeakerSegmentation::kSamples)
      return fail(Fault::usage, "speakers: " + request.network + " takes no input of length " + std::to_string(length));
    if (batches.empty() || batches.back().length != length)
      batches.push_back({.first_value = values, .length = length});
    ++batches.back().count;
    values += length * width;
  }
  return batches;
}

Result<void> SpeakerServer::load(const AnalyzeSpeakers& request) {
  if (weights_ != request.weights) {
    segmentation_.reset();
    embedding_.reset();
    weights_ = request.weights;
  }
  if (request.network == kSegmentation && !segmentation_) {
    segmentation_ = TRY(SpeakerSegmentation::load(weights_ / kSegmentationWeights, device_));
  }
  if (request.network == kEmbedding && !embedding_) {
    auto network = TRY(SpeakerEmbedding::load(weights_ / kEmbeddingWeights, device_));
    embedding_ = std::move(network);
  }
  return {};
}

at::Tensor SpeakerServer::forward(bool embeds, const at::Tensor& inputs) const {
  const c10::InferenceMode no_autograd;  // of whichever thread this is
  const auto outputs = embeds ? embedding_->forward(inputs.to(device_)) : segmentation_->forward(inputs.to(device_));
  return outputs.to(at::kCPU, at::kFloat).contiguous();
}

Result<std::vector<float>> SpeakerServer::compute(const AnalyzeSpeakers& request, OwnedFd memory) {
  const auto batches = TRY(batches_of(request));
  const auto view = TRY(WindowView::map(std::move(memory), static_cast<std::size_t>(request.values())));
  TRY(load(request));

  const bool embeds = request.network == kEmbedding;
  const std::int64_t together = device_.is_cuda() ? kAllTogether : embeds ? kPiecesTogether : kWindowsTogether;
  std::vector<at::Tensor> inputs;
  for (const Batch& batch : batches) {
    const std::vector<std::int64_t> shape =
        embeds ? std::vector<std::int64_t>{batch.count, batch.length, SpeakerEmbedding::kFeatures}
               : std::vector<std::int64_t>{batch.count, batch.length};
    // Nothing writes to it.
    auto* const first = const_cast<float*>(view.values().data() + batch.first_value);
    for (auto& part : at::from_blob(first, shape, at::kFloat).split(together)) inputs.push_back(std::move(part));
  }
  std::vector<at::Tensor> outputs(inputs.size());
  at::parallel_for(0, std::ssize(inputs), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      outputs[static_cast<std::size_t>(i)] = forward(embeds, inputs[static_cast<std::size_t>(i)]);
  });
  std::vector<float> values;
  for (const auto& output : outputs)
    values.insert(values.end(), output.data_ptr<float>(), output.data_ptr<float>() + output.numel());
  return values;
}

ToControl SpeakerServer::answer(const AnalyzeSpeakers& request, OwnedFd memory) {
  const auto begun = Clock::real().now();
  CaughtFault fault;
  try {
    auto values = compute(request, std::move(memory));
    if (!values) return Failed{.window = request.window, .fault = values.error().fault, .what = values.error().text()};
    return SpeakersAnalyzed{.window = request.window,
                            .seconds = Seconds(Clock::real().now() - begun).count(),
                            .values = std::move(*values)};
  } catch (...) {
    fault = caught_fault("finding speakers");
  }
  broken_ = fault.fatal;
  return Failed{.window = broken_ ? 0 : request.window, .fault = fault.error.fault, .what = fault.error.text()};
}

}  // namespace tutti
