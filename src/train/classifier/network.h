#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/labelled/audio_geometry.h"
#include "train/parameter.h"

namespace tutti {

/// Rows and columns: mels and frames.
using Grid = std::array<std::int64_t, 2>;

/// The shape of a classifier: three convolutions of 3 x 3, each followed by a max-pooling, an average over a grid, a
/// hidden layer and a head for the labels. Note 003's network is one of these.
struct ClassifierShape {
  std::int64_t n_mels = 64;
  std::int64_t frames = 1;
  std::int64_t channels = 32;  ///< channels of the first convolution; the others have two and four times as many
  std::array<Grid, 3> pools{Grid{1, 1}, Grid{2, 1}, Grid{2, 1}};
  Grid grid{16, 1};
  std::int64_t hidden = 256;
  std::int64_t labels = 5;
  bool has_against = false;  ///< a second head: one label against all others
};

/// The note's network where a segment has few frames; else the same with poolings over time, which keeps as many
/// parameters and a quarter of the time's order.
ClassifierShape classifier_shape(const AudioGeometry& geometry, std::int64_t labels, std::int64_t channels,
                                 bool has_against);

/// The tensors of a network of that shape, float32 on `device`, with torch's own initial values; the same seed gives
/// the same. In order: conv1, conv2, conv3, hidden, head and, where there is one, against, each weight and bias.
std::vector<Parameter> new_classifier(const ClassifierShape& shape, std::uint64_t seed, at::Device device);

/// What a network answers to rows.
struct ClassifierLogits {
  at::Tensor labels{};   // [rows, labels]
  at::Tensor against{};  // [rows]; undefined without that head
};

/// The answers to x, [rows, n_mels, frames] float32, normalised. `dropout`: the share of activations that is dropped; 0
/// where nothing is learned. Where nothing but one frame is left, kernels are reduced to the column that sees it, which
/// is exact. Enqueues only.
ClassifierLogits classifier_logits(const ClassifierShape& shape, const std::vector<Parameter>& parameters,
                                   const at::Tensor& x, double dropout);

/// How far answers are from the truth.
struct ClassifierLoss {
  at::Tensor label_weights{};  // [labels] float32
  double label_smoothing = 0;  // share of the certainty that is spread over all labels
  bool is_focal = false;       // alpha (1 - p)^gamma times the cross-entropy, p the truth's probability
  double focal_gamma = 2;      // these two as note 003 has them
  double focal_alpha = 0.75;
  std::int64_t against = -1;    // the label of the second head; -1: there is none
  double against_weight = 0.3;  // weight of that head's binary cross-entropy
};

/// The loss of each row: [rows] float32. `labels`: [rows] int64, on the logits' device. Enqueues only.
at::Tensor losses_of(const ClassifierLoss& loss, const ClassifierLogits& logits, const at::Tensor& labels);

/// As config.json keeps it, and back; Fault::corrupt names what is missing.
std::string show_shape(const ClassifierShape& shape);
Result<ClassifierShape> read_shape(const std::string& json);

}  // namespace tutti
