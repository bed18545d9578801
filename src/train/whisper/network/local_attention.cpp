#include "train/whisper/network/local_attention.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

constexpr double kGain = 1.5;         // gain on the sinusoids' weights; 1 and 2 serve as well
constexpr double kContentKept = 0.3;  // share of the drawn weights that is kept
constexpr double kFirstReach = 3;     // positions that the first layer's farthest heads look

/// Rows [first, first + 2n) of query and key [width, width], float32 on the CPU.
struct Head {
  float* query;
  float* key;
  std::int64_t width;

  /// Row pair `j` attends to the position `ahead` of its own by the sinusoid `i`.
  void add_query(std::int64_t j, std::int64_t i, double ahead) {
    const auto half = width / 2;
    const double turn = std::exp(-sinusoid_step(width) * static_cast<double>(i)) * ahead;
    const auto c = static_cast<float>(kGain * std::cos(turn)), s = static_cast<float>(kGain * std::sin(turn));
    float* const q_sine = query + 2 * j * width;
    float* const q_cosine = q_sine + width;
    float* const k_sine = key + 2 * j * width;
    float* const k_cosine = k_sine + width;
    q_sine[i] += static_cast<float>(kGain);
    q_cosine[half + i] += static_cast<float>(kGain);
    // sin(w (p' - d)) and cos(w (p' - d))
    k_sine[i] += c;
    k_sine[half + i] -= s;
    k_cosine[half + i] += c;
    k_cosine[i] += s;
  }
};

double ahead_of(std::int64_t layer, std::int64_t head, std::int64_t heads) {
  const auto pairs = std::max<std::int64_t>(1, heads / 2);
  const double share = static_cast<double>(std::min(head / 2, pairs - 1) + 1) / static_cast<double>(pairs);
  const double reach = std::round(kFirstReach * std::exp2(static_cast<double>(layer)) * share);
  return head % 2 == 0 ? reach : -reach;
}

}  // namespace

void look_nearby(WhisperParameters& parameters) {
  const c10::AutoGradMode no_gradients(false);
  const std::int64_t heads = parameters.shape.dims.n_audio_head, width = parameters.shape.dims.n_audio_state;
  const std::int64_t rows = width / heads;
  std::int64_t layer = 0;
  for (const BlockWeights& block : parameters.weights.encoder) {
    auto query = block.attn.query.weight.to(at::kCPU) * kContentKept;
    auto key = block.attn.key.weight.to(at::kCPU) * kContentKept;
    for (std::int64_t head = 0; head < heads; ++head) {
      Head own{query.mutable_data_ptr<float>() + head * rows * width,
               key.mutable_data_ptr<float>() + head * rows * width, width};
      for (std::int64_t j = 0; j < rows / 2; ++j) own.add_query(j, j, ahead_of(layer, head, heads));
    }
    block.attn.query.weight.copy_(query);
    block.attn.key.weight.copy_(key);
    ++layer;
  }
}

}  // namespace tutti
