#include "model/cpu/likeliest.h"

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "model/cpu/parallel.h"
#include "model/cpu/row/long_row.h"

namespace tutti {
namespace {

// Sixteen of each side by side: one after the other the compiler must not reorder them, and the processor waits.
constexpr std::size_t kTogether = 16;

template <class Stored>
float dot(std::span<const float> x, const Stored* weights) {
  std::array<float, kTogether> sums{};
  std::size_t i = 0;
  for (; i + kTogether <= x.size(); i += kTogether) {
    for (std::size_t k = 0; k < kTogether; ++k) sums[k] += x[i + k] * static_cast<float>(weights[i + k]);
  }
  for (; i < x.size(); ++i) sums[0] += x[i] * static_cast<float>(weights[i]);
  return std::accumulate(sums.begin(), sums.end(), 0.F);
}

/// The tokens that could be the likeliest, at most kMostDoubtful of them.
std::vector<std::int32_t> doubtful(std::span<const float> logits) {
  const auto columns = column_maxima(logits);
  auto tokens = positions_from(logits, columns, largest_of(columns) - kDoubtfulLogits);
  if (tokens.size() > kMostDoubtful) {
    std::ranges::nth_element(tokens, tokens.begin() + std::ptrdiff_t{kMostDoubtful}, std::greater(),
                             [&](std::int32_t token) { return logits[static_cast<std::size_t>(token)]; });
    tokens.resize(kMostDoubtful);
  }
  return tokens;
}

template <class Stored>
void compute_row(std::span<float> logits, std::span<const float> x, const Stored* table) {
  for (const auto token : doubtful(logits)) {
    const auto at = static_cast<std::size_t>(token);
    logits[at] = dot(x, table + at * x.size());
  }
}

}  // namespace

void compute_likeliest(at::Tensor& logits, const at::Tensor& x, const at::Tensor& table) {
  const auto vocabulary = static_cast<std::size_t>(logits.size(1));
  const auto n = static_cast<std::size_t>(x.size(1));
  auto* values = logits.mutable_data_ptr<float>();
  const auto* rows = x.const_data_ptr<float>();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, table.scalar_type(), "compute_likeliest", [&] {
    const auto* stored = table.const_data_ptr<scalar_t>();
    for_each_unit(logits.size(0), [&](std::int64_t row) {
      const auto i = static_cast<std::size_t>(row);
      compute_row(std::span(values + i * vocabulary, vocabulary), std::span(rows + i * n, n), stored);
    });
  });
}

}  // namespace tutti
