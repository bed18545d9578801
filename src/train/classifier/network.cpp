#include "train/classifier/network.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "base/json.h"

namespace tutti {
namespace {

constexpr std::int64_t kKernel = 3;

struct Slot {
  const char* name;
  std::vector<std::int64_t> shape;
};

std::vector<Slot> slots_of(const ClassifierShape& s) {
  const auto c = s.channels;
  std::vector<Slot> slots{{"conv1", {c, 1, kKernel, kKernel}},
                          {"conv2", {2 * c, c, kKernel, kKernel}},
                          {"conv3", {4 * c, 2 * c, kKernel, kKernel}},
                          {"hidden", {s.hidden, 4 * c * s.grid[0] * s.grid[1]}},
                          {"head", {s.labels, s.hidden}}};
  if (s.has_against) slots.push_back({"against", {1, s.hidden}});
  return slots;
}

/// A convolution of one frame: the columns beside the middle one see padding alone. On a processor, libraries compute
/// that several times faster where it is one over the mels than where it is a 3 x 1 one.
at::Tensor convolved(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (x.size(3) > 1) return at::conv2d(x, weight, bias, 1, 1);
  return at::conv1d(x.squeeze(3), weight.select(3, 1), bias, 1, 1).unsqueeze(3);
}

/// As max-pooling of a window that is larger than what there is: of what there is.
at::Tensor pooled(const at::Tensor& x, const Grid& pool) {
  const Grid window{std::min(pool[0], x.size(2)), std::min(pool[1], x.size(3))};
  if (window == Grid{1, 1}) return x;
  if (x.size(3) == 1) return at::max_pool1d(x.squeeze(3), window[0], window[0]).unsqueeze(3);
  return at::max_pool2d(x, window, window);
}

}  // namespace

ClassifierShape classifier_shape(const AudioGeometry& geometry, std::int64_t labels, std::int64_t channels,
                                 bool has_against) {
  constexpr std::int64_t kManyFrames = 8;
  ClassifierShape shape{.n_mels = geometry.mel.n_mels,
                        .frames = geometry.frames(),
                        .channels = channels,
                        .labels = labels,
                        .has_against = has_against};
  if (shape.frames >= kManyFrames) {
    shape.pools = {Grid{2, 2}, Grid{2, 2}, Grid{1, 1}};
    shape.grid = {4, 4};
  }
  return shape;
}

std::vector<Parameter> new_classifier(const ClassifierShape& shape, std::uint64_t seed, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  auto generator = at::detail::createCPUGenerator(seed);
  std::vector<Parameter> all;
  for (const auto& slot : slots_of(shape)) {
    std::int64_t fan_in = 1;
    for (std::size_t i = 1; i < slot.shape.size(); ++i) fan_in *= slot.shape[i];
    const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
    const auto drawn = [&](at::IntArrayRef sizes) {
      return at::empty(sizes, at::TensorOptions(at::kFloat)).uniform_(-bound, bound, generator).to(device);
    };
    all.push_back({std::string(slot.name) + ".weight", drawn(slot.shape)});
    all.push_back({std::string(slot.name) + ".bias", drawn(slot.shape[0])});
  }
  return all;
}

ClassifierLogits classifier_logits(const ClassifierShape& shape, const std::vector<Parameter>& parameters,
                                   const at::Tensor& x, double dropout) {
  const auto weight = [&](std::size_t i) { return parameters[2 * i].value; };
  const auto bias = [&](std::size_t i) { return parameters[2 * i + 1].value; };
  auto y = x.unsqueeze(1);
  for (std::size_t i = 0; i < shape.pools.size(); ++i)
    y = pooled(at::relu(convolved(y, weight(i), bias(i))), shape.pools[i]);
  if (y.sizes().slice(2) != at::IntArrayRef(shape.grid)) y = at::adaptive_avg_pool2d(y, shape.grid);
  y = y.flatten(1);
  y = at::dropout(y, dropout, dropout > 0);
  y = at::dropout(at::relu(at::linear(y, weight(3), bias(3))), dropout, dropout > 0);
  ClassifierLogits logits{.labels = at::linear(y, weight(4), bias(4))};
  if (shape.has_against) logits.against = at::linear(y, weight(5), bias(5)).squeeze(1);
  return logits;
}

at::Tensor losses_of(const ClassifierLoss& loss, const ClassifierLogits& logits, const at::Tensor& labels) {
  constexpr std::int64_t kNoneIgnored = -100;
  auto losses = at::cross_entropy_loss(logits.labels.to(at::kFloat), labels, {}, at::Reduction::None, kNoneIgnored,
                                       loss.label_smoothing);
  if (loss.is_focal) losses = loss.focal_alpha * (1 - at::exp(-losses)).pow(loss.focal_gamma) * losses;
  losses = losses * loss.label_weights.index_select(0, labels);
  if (loss.against < 0) return losses;
  const auto truth = labels.eq(loss.against).to(at::kFloat);
  return losses + loss.against_weight * at::binary_cross_entropy_with_logits(logits.against.to(at::kFloat), truth, {},
                                                                             {}, at::Reduction::None);
}

std::string show_shape(const ClassifierShape& s) {
  const nlohmann::ordered_json json{{"n_mels", s.n_mels}, {"frames", s.frames},      {"channels", s.channels},
                                    {"pools", s.pools},   {"grid", s.grid},          {"hidden", s.hidden},
                                    {"labels", s.labels}, {"against", s.has_against}};
  return json.dump();
}

Result<ClassifierShape> read_shape(const std::string& text) {
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    ClassifierShape s{.n_mels = json.at("n_mels"),
                      .frames = json.at("frames"),
                      .channels = json.at("channels"),
                      .pools = json.at("pools"),
                      .grid = json.at("grid"),
                      .hidden = json.at("hidden"),
                      .labels = json.at("labels"),
                      .has_against = json.at("against")};
    bool positive = s.labels > 0 && s.hidden > 0 && s.channels > 0 && s.n_mels > 0 && s.frames > 0;
    for (const auto& grid : {s.pools[0], s.pools[1], s.pools[2], s.grid}) positive &= grid[0] > 0 && grid[1] > 0;
    if (!positive) return fail(Fault::corrupt, "network: expected positive numbers");
    return s;
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, std::string("network: ") + error.what());
  }
}

}  // namespace tutti
