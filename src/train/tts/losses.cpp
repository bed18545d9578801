#include "train/tts/losses.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>

#include "model/gpu.h"
#include "train/tts/alignment.h"

namespace tutti {
namespace {

/// Products of this scope are not rounded, whatever the step's are: distances between spectrograms would be lost.
class ExactProducts {
 public:
  explicit ExactProducts(at::DeviceType device) : device_(device), rounded_(at::autocast::is_autocast_enabled(device)) {
    at::autocast::set_autocast_enabled(device_, false);
  }
  ExactProducts(const ExactProducts&) = delete;
  ~ExactProducts() { at::autocast::set_autocast_enabled(device_, rounded_); }

 private:
  at::DeviceType device_;
  bool rounded_;
};

/// The frames of each row shared out evenly among its symbols: [rows, length] int64.
at::Tensor even_durations(const VoiceRows& rows) {
  const auto counts = rows.symbol_counts.unsqueeze(1), frames = rows.frame_counts.unsqueeze(1);
  const auto edges = at::arange(rows.symbols.size(1) + 1, counts.options()).unsqueeze(0).minimum(counts);
  return (edges * frames).div(counts, "floor").diff(1, 1);
}

/// As aligned_durations, by a kernel behind the scores' own: nothing waits for the GPU. scores: contiguous.
at::Tensor durations_on_gpu(const at::Tensor& scores, const VoiceRows& rows) {
  auto durations = at::empty({scores.size(0), scores.size(2)}, scores.options().dtype(at::kLong));
  const auto frames = static_cast<std::int32_t>(scores.size(1));
  const auto moves = at::empty({scores.size(0), move_words(frames), scores.size(2)}, scores.options().dtype(at::kInt));
  const auto symbol_counts = rows.symbol_counts.contiguous(), frame_counts = rows.frame_counts.contiguous();
  gpu::step_kernels()->align({.scores = scores.const_data_ptr<float>(),
                              .symbol_counts = symbol_counts.const_data_ptr<std::int64_t>(),
                              .frame_counts = frame_counts.const_data_ptr<std::int64_t>(),
                              .durations = durations.mutable_data_ptr<std::int64_t>(),
                              .moves = moves.mutable_data_ptr<std::int32_t>(),
                              .rows = static_cast<std::int32_t>(scores.size(0)),
                              .frames = frames,
                              .symbols = static_cast<std::int32_t>(scores.size(2))},
                             gpu::current_stream(scores.device().index()));
  return durations;
}

/// Searched for, but for rows that are to be even.
at::Tensor durations_of(const at::Tensor& mean, const VoiceRows& rows) {
  const auto found = searched_durations(mean, rows);
  return rows.is_even.defined() ? at::where(rows.is_even.unsqueeze(1), even_durations(rows), found) : found;
}

/// The mean over the true positions of each row: values [rows, length, channels], mask [rows, length, 1] -> [rows].
at::Tensor mean_over(const at::Tensor& values, const at::Tensor& mask) {
  const auto counts = mask.sum(at::IntArrayRef({1, 2})) * values.size(2);
  return (values * mask).sum(at::IntArrayRef({1, 2})) / counts;
}

/// Twice Poisson's deviance, in units of the row's mean duration. Its optimum is the mean of the durations, that of the
/// squared error of logarithms is less: speech would be too short wherever the search is of two minds.
at::Tensor duration_loss(const EncodedText& text, const at::Tensor& lasting, const at::Tensor& symbol_counts) {
  const auto mask = text.mask.squeeze(2);
  const auto frames = lasting.to(at::kFloat), least = frames.clamp_min(1);
  const auto logs = text.log_durations;
  const auto deviance = 2 * (logs.exp() - frames + least * (least.log() - logs));
  const auto mean = frames.sum(1) / symbol_counts;
  return (deviance * mask).sum(1) / (symbol_counts * mean);
}

}  // namespace

at::Tensor symbol_scores(const at::Tensor& mean, const VoiceRows& rows) {
  return at::bmm(rows.mel, mean.transpose(1, 2)) - 0.5 * mean.square().sum(2).unsqueeze(1);
}

at::Tensor searched_durations(const at::Tensor& mean, const VoiceRows& rows) {
  const c10::AutoGradMode no_gradients(false);
  const auto scores = symbol_scores(mean, rows);
  if (mean.is_cuda() && scores.size(2) <= kMostAlignedSymbols) return durations_on_gpu(scores.contiguous(), rows);
  return aligned_durations(scores.to(at::kCPU).contiguous(), rows.symbol_counts.to(at::kCPU),
                           rows.frame_counts.to(at::kCPU))
      .to(mean.device());
}

VoiceLosses voice_losses(const VoiceNetwork& network, const VoiceRows& rows, const at::Tensor& noise,
                         const ForwardOptions& options, at::Tensor* durations) {
  const auto text = encode_text(network, rows.symbols, rows.symbol_counts, rows.speakers, options);
  VoiceLosses losses;
  at::Tensor target, condition, mask;
  {
    const ExactProducts exact(rows.mel.device().type());
    const auto lasting = durations_of(text.mean.detach(), rows);
    if (durations != nullptr) *durations = lasting;
    losses.durations = duration_loss(text, lasting, rows.symbol_counts);
    const auto frames = rows.mel.size(1);
    const auto positions = at::arange(frames, rows.frame_counts.options()).unsqueeze(0);
    const auto expected = at::bmm(alignment_matrix(lasting, positions), text.mean);
    losses.prior = mean_over(0.5 * (rows.mel - expected).square(), mask_of(rows.frame_counts, frames));

    const auto spare = (rows.frame_counts - kCropFrames).clamp_min(0);
    const auto first = (rows.crop * (spare + 1)).to(at::kLong).minimum(spare);
    const auto at_frames = first.unsqueeze(1) + at::arange(kCropFrames, first.options()).unsqueeze(0);
    mask = (at_frames < rows.frame_counts.unsqueeze(1)).to(at::kFloat).unsqueeze(2);
    const auto index = at_frames.clamp_max(frames - 1).unsqueeze(2).expand({-1, -1, rows.mel.size(2)});
    target = rows.mel.gather(1, index) * mask;
    condition = condition_of(network, text, lasting, at_frames);
  }
  const auto time = rows.time.view({-1, 1, 1});
  const auto noisy = (1 - time) * noise + time * target;
  const auto velocity = velocity_of(network, noisy, rows.time, condition, mask, options.recompute);
  losses.flow = mean_over((velocity - (target - noise)).square(), mask);
  return losses;
}

}  // namespace tutti
