#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>

#include "checks.h"
#include "decode/alignment.h"
#include "model/decoder_step/step_device.h"

namespace tutti {
namespace {

constexpr std::int32_t kClips = 16, kFrames = 800, kSymbols = 200;

/// Clips of many lengths, that of the most frames and symbols among them.
struct Clips {
  at::Tensor scores = at::randn({kClips, kFrames, kSymbols});
  at::Tensor frames = at::randint(kFrames / 2, kFrames + 1, {kClips}, at::kLong);
  at::Tensor symbols = at::randint(1, kSymbols + 1, {kClips}, at::kLong);
};

Clips some_clips() {
  at::manual_seed(20251121);
  Clips clips;
  clips.frames[0] = kFrames;
  clips.symbols[0] = kSymbols;
  return clips;
}

/// AlignJob's durations of a clip, by the whole table of best sums. durations: [kSymbols], zeros.
void align_plainly(const at::Tensor& scores, std::int64_t frames, std::int64_t symbols, std::int64_t* durations) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const auto score = scores.accessor<float, 2>();
  std::vector<std::vector<float>> best(static_cast<std::size_t>(frames),
                                       std::vector<float>(static_cast<std::size_t>(symbols), kNever));
  const auto moved = [&](std::size_t frame, std::size_t symbol) {
    return symbol > 0 ? best[frame - 1][symbol - 1] : kNever;
  };
  best[0][0] = score[0][0];
  for (std::size_t frame = 1; frame < best.size(); ++frame) {
    for (std::size_t symbol = 0; symbol < best[frame].size(); ++symbol) {
      best[frame][symbol] = score[static_cast<std::int64_t>(frame)][static_cast<std::int64_t>(symbol)] +
                            std::max(best[frame - 1][symbol], moved(frame, symbol));
    }
  }
  auto symbol = static_cast<std::size_t>(symbols) - 1;
  for (auto frame = best.size(); frame-- > 0;) {
    ++durations[symbol];
    if (frame > 0 && moved(frame, symbol) > best[frame - 1][symbol]) --symbol;
  }
}

at::Tensor durations_by_plain_loops(const Clips& clips) {
  auto durations = at::zeros({kClips, kSymbols}, at::kLong);
  for (std::int64_t clip = 0; clip < kClips; ++clip) {
    align_plainly(clips.scores[clip], clips.frames[clip].item<std::int64_t>(), clips.symbols[clip].item<std::int64_t>(),
                  durations[clip].mutable_data_ptr<std::int64_t>());
  }
  return durations;
}

at::Tensor durations_by_kernel(const Clips& clips, at::Device device) {
  const auto scores = clips.scores.to(device), frames = clips.frames.to(device), symbols = clips.symbols.to(device);
  auto durations = at::empty({kClips, kSymbols}, frames.options());
  const auto moves = at::empty({kClips, move_words(kFrames), kSymbols}, scores.options().dtype(at::kInt));
  const auto now = kernels_of(device);
  now.kernels->align({.scores = scores.const_data_ptr<float>(),
                      .symbol_counts = symbols.const_data_ptr<std::int64_t>(),
                      .frame_counts = frames.const_data_ptr<std::int64_t>(),
                      .durations = durations.mutable_data_ptr<std::int64_t>(),
                      .moves = moves.mutable_data_ptr<std::int32_t>(),
                      .rows = kClips,
                      .frames = kFrames,
                      .symbols = kSymbols},
                     now.stream);
  return durations.to(at::kCPU);
}

void compare_durations(Report& report, at::Device device) {
  const auto clips = some_clips();
  const auto found = durations_by_kernel(clips, device), wanted = durations_by_plain_loops(clips);
  report.add({.check = "parity",
              .what = "alignment of a voice's clips",
              .value = static_cast<double>((found != wanted).sum().item<std::int64_t>()),
              .unit = "durations that differ",
              .passed = at::equal(found, wanted)});
}

TokenTimes word_times(at::Device device, ComputeType type) {
  const c10::InferenceMode no_autograd;
  const auto model = small_random_model(device, type);
  const auto window = model.cross_kv(model.encode(test_mel(model.dims())));
  const AlignmentText text{.sot_sequence = {50257},
                           .text = {400, 1010, 7, 2020, 33, 12000, 5, 901, 44, 3003, 18, 6},
                           .frames = 2 * model.dims().n_audio_ctx};
  const DecodingTokens tokens{.eot = 50256, .timestamp_begin = 50363, .no_timestamps = 50362};
  return Aligner(model, alignment_heads({}, model.dims())).align(window, text, tokens).value();
}

/// The times of random weights hang on the last bits of nearly equal scores: they are a figure, no check.
void compare_word_times(Report& report, at::Device device, const CheckedType& type, const TokenTimes& wanted) {
  const auto found = word_times(device, type.type);
  const auto row = [](const TokenTimes& times) { return at::tensor(times.probabilities); };
  const double error = ((row(found) - row(wanted)).norm() / row(wanted).norm()).item<double>();
  report.add({.check = "parity",
              .what = "random weights " + type.name() + ", words' probabilities",
              .value = error,
              .unit = "relative error",
              .passed = error <= type.tolerance});
  int apart = 0;
  for (std::size_t i = 0; i < wanted.starts.size(); ++i)
    apart = std::max(apart, std::abs(found.starts.at(i) - wanted.starts[i]));
  report.add({.check = "parity",
              .what = "random weights " + type.name() + ", words' times",
              .value = 0.02 * apart,
              .unit = "s apart at most"});
}

}  // namespace

void check_alignments(Report& report, at::Device device, const std::vector<CheckedType>& types) {
  report.attempt("parity", "alignment", [&] { compare_durations(report, device); });
  const auto wanted = word_times(at::kCPU, ComputeType::float32);
  for (const auto& type : types) {
    report.attempt("parity", "words " + type.name(), [&] { compare_word_times(report, device, type, wanted); });
  }
}

}  // namespace tutti
