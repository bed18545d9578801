#include "train/tts/alignment.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>
#include <vector>

#include "audio/lanes.h"

namespace tutti {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

template <int lanes>
struct ByteVector {
  typedef std::int8_t type __attribute__((vector_size(lanes)));
};

/// One frame: `now` from `before`, both with a column of kNever in front. A symbol is gone on with, or its predecessor
/// ends: `from_previous` notes which. Symbols that could not have been reached yet come out as kNever by themselves.
template <int lanes>
TUTTI_INLINE void advance(const float* scores, const float* before, float* now, std::uint8_t* from_previous,
                          std::int64_t symbols) {
  std::int64_t i = 0;
  for (; i + lanes <= symbols; i += lanes) {
    const V<lanes> stays = load<lanes>(before + i + 1), moves = load<lanes>(before + i);
    const auto is_moved = moves > stays;
    store<lanes>(now + i + 1, load<lanes>(scores + i) + (is_moved ? moves : stays));
    const auto bytes = __builtin_convertvector(is_moved, typename ByteVector<lanes>::type);
    std::memcpy(from_previous + i, &bytes, sizeof bytes);
  }
  for (; i < symbols; ++i) {
    const float stays = before[i + 1], moves = before[i];
    from_previous[i] = moves > stays;
    now[i + 1] = scores[i] + (moves > stays ? moves : stays);
  }
}

using Advance = void (*)(const float*, const float*, float*, std::uint8_t*, std::int64_t);

[[TUTTI_AVX512]] void advance_avx512(const float* scores, const float* before, float* now, std::uint8_t* moves,
                                     std::int64_t symbols) {
  advance<16>(scores, before, now, moves, symbols);
}
[[TUTTI_AVX2]] void advance_avx2(const float* scores, const float* before, float* now, std::uint8_t* moves,
                                 std::int64_t symbols) {
  advance<8>(scores, before, now, moves, symbols);
}
void advance_any(const float* scores, const float* before, float* now, std::uint8_t* moves, std::int64_t symbols) {
  advance<4>(scores, before, now, moves, symbols);
}

Advance fastest_advance() {
  if (runs_avx512()) return advance_avx512;
  return runs_avx2() ? advance_avx2 : advance_any;
}

}  // namespace

std::size_t alignment_bytes(std::int64_t symbols, std::int64_t frames) {
  return static_cast<std::size_t>((symbols + 1) * 2) * sizeof(float) + static_cast<std::size_t>(symbols * frames);
}

void align_monotonically(std::span<const float> scores, std::int64_t stride, std::span<std::int32_t> durations,
                         std::int64_t frames, std::span<std::byte> work) {
  const auto symbols = std::ssize(durations);
  assert(symbols >= 1 && symbols <= frames);
  static const Advance step = fastest_advance();
  auto* before = reinterpret_cast<float*>(work.data());
  auto* now = before + symbols + 1;
  auto* moves = reinterpret_cast<std::uint8_t*>(now + symbols + 1);
  std::fill_n(before, symbols + 1, kNever);
  now[0] = kNever;
  before[1] = scores[0];
  for (std::int64_t frame = 1; frame < frames; ++frame) {
    step(scores.data() + frame * stride, before, now, moves + frame * symbols, symbols);
    std::swap(before, now);
  }
  std::ranges::fill(durations, 0);
  auto symbol = symbols - 1;
  for (auto frame = frames - 1; frame >= 0; --frame) {
    ++durations[static_cast<std::size_t>(symbol)];
    if (symbol > 0 && (symbol == frame || moves[frame * symbols + symbol] != 0)) --symbol;
  }
}

at::Tensor aligned_durations(const at::Tensor& scores, const at::Tensor& symbol_counts,
                             const at::Tensor& frame_counts) {
  const auto rows = scores.size(0), frames = scores.size(1), symbols = scores.size(2);
  auto durations = at::zeros({rows, symbols}, at::TensorOptions(at::kLong));
  const auto* values = scores.const_data_ptr<float>();
  const auto* lengths = symbol_counts.const_data_ptr<std::int64_t>();
  const auto* heights = frame_counts.const_data_ptr<std::int64_t>();
  auto* out = durations.mutable_data_ptr<std::int64_t>();
  at::parallel_for(0, rows, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<std::byte> work(alignment_bytes(symbols, frames));
    std::vector<std::int32_t> found;
    for (auto row = first; row < last; ++row) {
      found.resize(static_cast<std::size_t>(lengths[row]));
      const std::span own(values + row * frames * symbols, static_cast<std::size_t>(frames * symbols));
      align_monotonically(own, symbols, found, heights[row], work);
      std::ranges::copy(found, out + row * symbols);
    }
  });
  return durations;
}

at::Tensor alignment_matrix(const at::Tensor& durations, const at::Tensor& frames) {
  const auto ends = durations.cumsum(1).unsqueeze(1);  // [rows, 1, symbols]
  const auto begins = ends - durations.unsqueeze(1);
  const auto frame = frames.unsqueeze(2);
  return at::logical_and(frame >= begins, frame < ends).to(at::kFloat);
}

}  // namespace tutti
