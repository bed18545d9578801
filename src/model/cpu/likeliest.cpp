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

namespace tutti {
namespace {

// Sixteen of each side by side: one after the other the compiler must not reorder them, and the processor waits.
constexpr std::size_t kTogether = 16;

float largest_of(std::span<const float> values) {
  std::array<float, kTogether> most{};
  most.fill(values[0]);
  std::size_t i = 0;
  for (; i + kTogether <= values.size(); i += kTogether) {
    for (std::size_t k = 0; k < kTogether; ++k) most[k] = std::max(most[k], values[i + k]);
  }
  for (; i < values.size(); ++i) most[0] = std::max(most[0], values[i]);
  return *std::ranges::max_element(most);
}

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
std::vector<std::size_t> doubtful(std::span<const float> logits) {
  const float least = largest_of(logits) - kDoubtfulLogits;
  std::vector<std::size_t> tokens;
  for (std::size_t token = 0; token < logits.size(); ++token) {
    if (logits[token] >= least) tokens.push_back(token);
  }
  if (tokens.size() > kMostDoubtful) {
    std::ranges::nth_element(tokens, tokens.begin() + std::ptrdiff_t{kMostDoubtful}, std::greater(),
                             [&](std::size_t token) { return logits[token]; });
    tokens.resize(kMostDoubtful);
  }
  return tokens;
}

template <class Stored>
void compute_row(std::span<float> logits, std::span<const float> x, const Stored* table) {
  for (const auto token : doubtful(logits)) logits[token] = dot(x, table + token * x.size());
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
