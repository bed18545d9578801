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

/// Number `column` of row `row` of a product, with its bias.
template <class T>
TUTTI_BOTH float value_at(const Sums& sums, std::int64_t row, std::int64_t n, std::int64_t column) {
  const auto at = row * n + column;
  if (sums.low) {
    const auto high = static_cast<float>(static_cast<const std::int32_t*>(sums.numbers)[at]);
    const auto value = kHigh * high + static_cast<float>(sums.low[at]);
    const float bias = sums.bias ? static_cast<const float*>(sums.bias)[column] : 0;
    return rounded<T>(value * sums.row_scales[row] * sums.column_scales[column] + bias);
  }
  const float bias = sums.bias ? widened(static_cast<const T*>(sums.bias)[column]) : 0;
  return rounded<T>(widened(static_cast<const T*>(sums.numbers)[at]) + bias);
}

/// Writes `values`, [n] in shared memory, as row `row`.
template <class T, class Team>
TUTTI_TEAM void write_row(const Team& team, const RowsOut& out, std::int64_t row, int n, const float* values) {
  if (!out.low) {
    auto* to = static_cast<T*>(out.numbers) + row * n;
    return team.each([&](int thread) {
      for (int i = thread; i < n; i += kThreads) to[i] = narrowed<T>(values[i]);
    });
  }
  const float most = team.greatest([&](int thread) {
    float own = 0;
    for (int i = thread; i < n; i += kThreads) own = fmaxf(own, fabsf(values[i]));
    return own;
  });
  const float scale = fmaxf(most / (127 * kHigh), 1e-12F);
  auto* to = static_cast<std::int8_t*>(out.numbers) + row * n;
  auto* low = out.low + row * n;
  team.each([&](int thread) {
    if (thread == 0) out.scales[row] = scale;
    for (int i = thread; i < n; i += kThreads) {
      const float whole = rintf(values[i] / scale), high = rintf(whole / kHigh);
      to[i] = static_cast<std::int8_t>(high);
      low[i] = static_cast<std::int8_t>(whole - kHigh * high);
    }
  });
}

template <class T>
struct NormBody {
  /// shared: n floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const NormJob& job, std::int64_t row, float* shared) {
    auto* x = static_cast<T*>(job.x) + row * job.n;
    const auto n = static_cast<float>(job.n);
    const float mean = team.total([&](int thread) {
      float sum = 0;
      for (int i = thread; i < job.n; i += kThreads) {
        float value = widened(x[i]);
        if (job.add.numbers) {
          value = rounded<T>(value + value_at<T>(job.add, row, job.n, i));
          x[i] = narrowed<T>(value);
        }
        sum += shared[i] = value;
      }
      return sum;
    }) / n;
    const float variance = team.total([&](int thread) {
      float sum = 0;
      for (int i = thread; i < job.n; i += kThreads) sum += (shared[i] - mean) * (shared[i] - mean);
      return sum;
    }) / n;
    const float factor = 1 / sqrtf(variance + kNormEpsilon);
    const auto* weight = static_cast<const T*>(job.weight);
    const auto* bias = static_cast<const T*>(job.bias);
    team.each([&](int thread) {
      for (int i = thread; i < job.n; i += kThreads) {
        shared[i] = rounded<T>((shared[i] - mean) * factor * widened(weight[i]) + widened(bias[i]));
      }
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
  /// shared: n floats.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const FinishJob& job, std::int64_t row, float* shared) {
    team.each([&](int thread) {
      for (int i = thread; i < job.n; i += kThreads) {
        const float value = value_at<T>(job.sums, row, job.n, i);
        shared[i] = job.gelu ? rounded<T>(gelu(value)) : value;
      }
    });
    write_row<T>(team, job.out, row, job.n, shared);
  }
};

template <class T>
struct EmbedBody {
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const EmbedJob& job, std::int64_t row, float*) {
    const auto* token = static_cast<const T*>(job.table) + std::int64_t{job.tokens[row]} * job.n;
    const auto* position = static_cast<const T*>(job.positional) + std::int64_t{job.positions[row]} * job.n;
    auto* to = static_cast<T*>(job.out) + row * job.n;
    team.each([&](int thread) {
      for (int i = thread; i < job.n; i += kThreads) to[i] = narrowed<T>(widened(position[i]) + widened(token[i]));
    });
  }
};

template <class T>
struct AppendBody {
  /// A unit is a row.
  template <class Team>
  TUTTI_TEAM static void run(const Team& team, const AppendJob& job, std::int64_t row, float*) {
    constexpr int kPieces = kHeadSize / kEight;  // of a head
    const auto pieces = job.heads * kPieces;
    const auto* keys = static_cast<const Eight<T>*>(job.qkv) + (row * 3 + 1) * pieces;
    const auto* values = keys + pieces;
    const auto slot = std::int64_t{job.slots[row]} * job.heads;
    const auto position = job.positions[row];
    team.each([&](int thread) {
      for (int i = thread; i < pieces; i += kThreads) {
        const auto to = ((slot + i / kPieces) * job.capacity + position) * kPieces + i % kPieces;
        static_cast<Eight<T>*>(job.keys)[to] = keys[i];
        static_cast<Eight<T>*>(job.values)[to] = values[i];
      }
    });
  }
};

}  // namespace tutti
