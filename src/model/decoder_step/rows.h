#pragma once

#include <math.h>

#include "model/decoder_step/byte_layout.h"
#include "model/decoder_step/jobs.h"
#include "model/decoder_step/team.h"

namespace tutti {

// The small operators of a decoder step, each fused with what comes before and behind it. A unit is a row. Every value
// that an operator of torch would have rounded to T on its way is rounded to T here, too.

inline constexpr float kNormEpsilon = 1e-5F;

template <class T>
TUTTI_BOTH float rounded(float value) {
  return widened(narrowed<T>(value));
}

/// kPiece<T> numbers of row `row` of a product from `column` on, with their bias.
template <class T, class Team>
TUTTI_TEAM Floats<kPiece<T>> values_at(const Team& team, const Sums& sums, std::int32_t row, std::int32_t n,
                                       std::int32_t column) {
  constexpr int kN = kPiece<T>;
  const auto at = row * n + column;
  Floats<kN> values, bias{};
  if (sums.low) {
    values = load_floats<kN>(team, static_cast<const std::int32_t*>(sums.numbers) + at);
    const auto low = load_floats<kN>(team, sums.low + at), scales = load_floats<kN>(team, sums.column_scales + column);
    const float row_scale = team.load(sums.row_scales + row);
    if (sums.bias) bias = load_floats<kN>(team, static_cast<const float*>(sums.bias) + column);
    for (int i = 0; i < kN; ++i) values.at[i] = (kHigh * values.at[i] + low.at[i]) * row_scale * scales.at[i];
  } else {
    values = load_floats<kN>(team, static_cast<const T*>(sums.numbers) + at);
    if (sums.bias) bias = load_floats<kN>(team, static_cast<const T*>(sums.bias) + column);
  }
  for (int i = 0; i < kN; ++i) values.at[i] = rounded<T>(values.at[i] + bias.at[i]);
  return values;
}

template <class T, class Team>
TUTTI_TEAM void write_piece(const Team& team, T* to, const Floats<kPiece<T>>& values) {
  Piece<T> piece;
  for (int i = 0; i < kPiece<T>; ++i) piece.at[i] = narrowed<T>(values.at[i]);
  team.write(reinterpret_cast<Piece<T>*>(to), piece);
}

/// fn(column), by all threads: every kPiece<T>-th column of a row.
template <class T, class Team, class Fn>
TUTTI_TEAM void each_piece(const Team& team, std::int32_t n, Fn fn) {
  team.each([&](int thread) {
    for (int column = thread * kPiece<T>; column < n; column += kThreads * kPiece<T>) fn(column);
  });
}

/// Writes `values`, [n] in shared memory, as row `row`.
template <class T, class Team>
TUTTI_TEAM void write_row(const Team& team, const RowsOut& out, std::int32_t row, std::int32_t n, const float* values) {
  constexpr int kN = kPiece<T>;
  if (!out.low) {
    auto* to = static_cast<T*>(out.numbers) + row * n;
    return each_piece<T>(team, n,
                         [&](int column) { write_piece(team, to + column, read_floats<kN>(team, values + column)); });
  }
  const float most = team.greatest([&](int thread) {
    float own = 0;
    for (int i = thread; i < n; i += kThreads) own = fmaxf(own, fabsf(values[i]));
    return own;
  });
  const float scale = fmaxf(most / (127 * kHigh), 1e-12F);
  auto* high_of = static_cast<std::int8_t*>(out.numbers) + row * n;
  auto* low_of = out.low + row * n;
  each_piece<T>(team, n, [&](int column) {
    using Bytes = Piece<std::int8_t, kN>;
    if (column == 0) out.scales[row] = scale;
    const auto floats = read_floats<kN>(team, values + column);
    Bytes high, low;
    for (int i = 0; i < kN; ++i) {
      const float whole = rintf(floats.at[i] / scale), upper = rintf(whole / kHigh);
      high.at[i] = static_cast<std::int8_t>(upper);
      low.at[i] = static_cast<std::int8_t>(whole - kHigh * upper);
    }
    team.write(reinterpret_cast<Bytes*>(high_of + column), high);
    team.write(reinterpret_cast<Bytes*>(low_of + column), low);
  });
}

template <class T>
struct NormBody {
  static constexpr const char* kName = "norm";

  /// shared: n floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const NormJob& job, std::int64_t index, float* shared) {
    constexpr int kN = kPiece<T>;
    const auto row = static_cast<std::int32_t>(index);
    auto* x = static_cast<T*>(job.x) + row * job.n;
    const auto n = static_cast<float>(job.n);
    const float mean = team.total([&](int thread) {
      float sum = 0;
      for (int column = thread * kN; column < job.n; column += kThreads * kN) {
        const auto piece = team.read(reinterpret_cast<const Piece<T>*>(x + column));
        Floats<kN> values;
        for (int i = 0; i < kN; ++i) values.at[i] = widened(piece.at[i]);
        if (job.add.numbers) {
          const auto added = values_at<T>(team, job.add, row, job.n, column);
          for (int i = 0; i < kN; ++i) values.at[i] = rounded<T>(values.at[i] + added.at[i]);
          write_piece(team, x + column, values);
        }
        write_floats(team, shared + column, values);
        for (float value : values.at) sum += value;
      }
      return sum;
    }) / n;
    const float variance = team.total([&](int thread) {
      float sum = 0;
      for (int i = thread; i < job.n; i += kThreads) sum += (shared[i] - mean) * (shared[i] - mean);
      return sum;
    }) / n;
    const float factor = 1 / sqrtf(variance + kNormEpsilon);
    each_piece<T>(team, job.n, [&](int column) {
      auto values = read_floats<kN>(team, shared + column);
      const auto weight = load_floats<kN>(team, static_cast<const T*>(job.weight) + column);
      const auto bias = load_floats<kN>(team, static_cast<const T*>(job.bias) + column);
      for (int i = 0; i < kN; ++i) {
        values.at[i] = rounded<T>((values.at[i] - mean) * factor * weight.at[i] + bias.at[i]);
      }
      write_floats(team, shared + column, values);
    });
    write_row<T>(team, job.out, row, job.n, shared);
  }
};

TUTTI_BOTH inline float gelu(float x) {
  constexpr float kRootOfHalf = 0.70710678118654752F;
  return 0.5F * x * (1 + erff(x * kRootOfHalf));
}

template <class T>
struct FinishBody {
  static constexpr const char* kName = "finish";

  /// shared: n floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const FinishJob& job, std::int64_t index, float* shared) {
    const auto row = static_cast<std::int32_t>(index);
    each_piece<T>(team, job.n, [&](int column) {
      auto values = values_at<T>(team, job.sums, row, job.n, column);
      if (job.gelu) {
        for (float& value : values.at) value = rounded<T>(gelu(value));
      }
      write_floats(team, shared + column, values);
    });
    write_row<T>(team, job.out, row, job.n, shared);
  }
};

template <class T>
struct EmbedBody {
  static constexpr const char* kName = "embed";

  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const EmbedJob& job, std::int64_t index, float*) {
    constexpr int kN = kPiece<T>;
    const auto row = static_cast<std::int32_t>(index);
    const auto* token = static_cast<const T*>(job.table) + std::int64_t{job.tokens[row]} * job.n;
    const auto* position = static_cast<const T*>(job.positional) + job.positions[row] * job.n;
    auto* to = static_cast<T*>(job.out) + row * job.n;
    each_piece<T>(team, job.n, [&](int column) {
      auto sums = load_floats<kN>(team, position + column);
      const auto added = load_floats<kN>(team, token + column);
      for (int i = 0; i < kN; ++i) sums.at[i] += added.at[i];
      write_piece(team, to + column, sums);
    });
  }
};

template <class T>
struct AppendBody {
  static constexpr const char* kName = "append";

  /// A unit is a row.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AppendJob& job, std::int64_t row, float*) {
    constexpr int kPieces = kHeadSize / kPiece<T>;  // pieces of a head
    const auto pieces = job.heads * kPieces;
    const auto* from = static_cast<const Piece<T>*>(job.qkv) + (row * 3 + 1) * pieces;
    const auto slot = std::int64_t{job.slots[row]} * job.heads * job.capacity;
    auto* keys = static_cast<Piece<T>*>(job.keys) + slot * kPieces;
    auto* values = static_cast<Piece<T>*>(job.values) + slot * kPieces;
    const auto position = job.positions[row];
    team.each([&](int thread) {
      for (int i = thread; i < pieces; i += kThreads) {
        const auto to = (i / kPieces * job.capacity + position) * kPieces + i % kPieces;
        team.write(keys + to, team.load(from + i));
        team.write(values + to, team.load(from + pieces + i));
      }
    });
  }
};

}  // namespace tutti
