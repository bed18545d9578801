#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include "model/decoder_step/kernels.h"
#include "train/tts/alignment.h"

using namespace tutti;

namespace {

/// The best path's score by trying all of them.
double best_by_trying(const at::Tensor& scores, std::int64_t symbols, std::int64_t frames) {
  const auto table = scores.accessor<float, 2>();
  std::function<double(std::int64_t, std::int64_t)> from = [&](std::int64_t symbol, std::int64_t frame) -> double {
    const double here = table[frame][symbol];
    if (frame == frames - 1) return symbol == symbols - 1 ? here : -std::numeric_limits<double>::infinity();
    double rest = from(symbol, frame + 1);
    if (symbol + 1 < symbols) rest = std::max(rest, from(symbol + 1, frame + 1));
    return here + rest;
  };
  return from(0, 0);
}

double score_of(const at::Tensor& scores, const at::Tensor& durations) {
  double sum = 0;
  std::int64_t frame = 0;
  for (std::int64_t symbol = 0; symbol < durations.size(0); ++symbol)
    for (std::int64_t i = 0; i < durations[symbol].item<std::int64_t>(); ++i)
      sum += scores[frame++][symbol].item<double>();
  return sum;
}

}  // namespace

TEST(VoiceAlignment, BestPathIsFoundInEverySmallCase) {
  at::manual_seed(1);
  for (std::int64_t frames = 1; frames <= 9; ++frames)
    for (std::int64_t symbols = 1; symbols <= frames; ++symbols) {
      const auto scores = at::randn({2, frames + 2, symbols + 3});  // padded in both directions
      const auto durations = aligned_durations(scores, at::full({2}, symbols, at::TensorOptions(at::kLong)),
                                               at::full({2}, frames, at::TensorOptions(at::kLong)));
      for (int row = 0; row < 2; ++row) {
        const auto own = durations[row].narrow(0, 0, symbols);
        EXPECT_GE(own.min().item<std::int64_t>(), 1);
        EXPECT_EQ(own.sum().item<std::int64_t>(), frames);
        EXPECT_EQ(durations[row].sum().item<std::int64_t>(), frames) << "padding got frames";
        EXPECT_NEAR(score_of(scores[row], own), best_by_trying(scores[row], symbols, frames), 1e-4)
            << symbols << " symbols, " << frames << " frames";
      }
    }
}

TEST(VoiceAlignment, EachSymbolGetsOneFrameWhereThereAreNoMore) {
  const auto durations = aligned_durations(at::randn({1, 40, 40}), at::full({1}, 40, at::TensorOptions(at::kLong)),
                                           at::full({1}, 40, at::TensorOptions(at::kLong)));
  EXPECT_TRUE(at::equal(durations, at::ones({1, 40}, at::TensorOptions(at::kLong))));
}

// The kernel of GPUs, by the host's side of its one source.
TEST(VoiceAlignment, KernelFindsWhatTheProcessorFinds) {
  at::manual_seed(2);
  struct Case {
    std::int64_t rows, frames, symbols;
  };
  for (const auto& [rows, frames, symbols] : {Case{1, 1, 1}, Case{3, 70, 33}, Case{19, 160, 64}, Case{2, 800, 767}}) {
    auto scores = at::randn({rows, frames, symbols});
    scores.narrow(0, 0, 1).round_();  // many equally good paths
    const auto frame_counts = at::randint(std::max<std::int64_t>(frames / 2, 1), frames + 1, {rows}, at::kLong);
    const auto symbol_counts = (frame_counts * at::rand({rows})).to(at::kLong).clamp(1, symbols);
    auto durations = at::full({rows, symbols}, 7, at::TensorOptions(at::kLong));
    auto moves =
        at::full({rows, move_words(static_cast<std::int32_t>(frames)), symbols}, -1, at::TensorOptions(at::kInt));
    host_step_kernels().align({.scores = scores.const_data_ptr<float>(),
                               .symbol_counts = symbol_counts.const_data_ptr<std::int64_t>(),
                               .frame_counts = frame_counts.const_data_ptr<std::int64_t>(),
                               .durations = durations.mutable_data_ptr<std::int64_t>(),
                               .moves = moves.mutable_data_ptr<std::int32_t>(),
                               .rows = static_cast<std::int32_t>(rows),
                               .frames = static_cast<std::int32_t>(frames),
                               .symbols = static_cast<std::int32_t>(symbols)},
                              nullptr);
    EXPECT_TRUE(at::equal(durations, aligned_durations(scores, symbol_counts, frame_counts))) << rows << " rows";
  }
  EXPECT_THROW(host_step_kernels().align({.symbols = kMostAlignedSymbols + 1}, nullptr), std::invalid_argument);
}

TEST(VoiceAlignment, MatrixHasEachFrameAtItsSymbolAlone) {
  const auto durations = at::tensor({2, 1, 3, 0, 1, 1, 0, 0}, at::TensorOptions(at::kLong)).view({2, 4});
  const auto matrix = alignment_matrix(durations, at::arange(6, at::TensorOptions(at::kLong)).unsqueeze(0));
  EXPECT_TRUE(at::equal(matrix[0].argmax(1), at::tensor({0, 0, 1, 2, 2, 2}, at::TensorOptions(at::kLong))));
  EXPECT_TRUE(at::equal(matrix[0].sum(1), at::ones({6})));
  EXPECT_TRUE(at::equal(matrix[1].sum(1), at::tensor({1.F, 1.F, 0.F, 0.F, 0.F, 0.F}))) << "frames behind the last";
}
