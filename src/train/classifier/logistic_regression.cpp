#include "train/classifier/logistic_regression.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

namespace tutti {
namespace {

using Values = std::vector<double>;

double product(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void add(Values& to, double factor, const Values& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += factor * what[i];
}

/// Logarithms of probabilities in place of logits.
void normalise(std::span<double> logits) {
  const double most = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - most);
  const double offset = most + std::log(sum);
  for (double& logit : logits) logit -= offset;
}

/// Mean and inverse deviation of each column.
struct Scale {
  explicit Scale(const RegressionRows& rows)
      : mean(static_cast<std::size_t>(rows.width)), inverse(static_cast<std::size_t>(rows.width)) {
    const auto count = static_cast<double>(std::max<std::int64_t>(rows.rows(), 1));
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      for (std::size_t d = 0; d < mean.size(); ++d) mean[d] += rows.row(i)[d] / count;
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      for (std::size_t d = 0; d < mean.size(); ++d) inverse[d] += std::pow(rows.row(i)[d] - mean[d], 2) / count;
    constexpr double kConstant = 1e-12;  // such a column does not help
    for (double& variance : inverse) variance = variance > kConstant ? 1 / std::sqrt(variance) : 0;
  }
  Values mean, inverse;
};

/// The loss of standardised rows and its gradient. Parameters: [width + 1, labels], the biases last.
class Loss {
 public:
  Loss(const RegressionRows& rows, const Scale& scale, const RegressionOptions& options)
      : rows_(rows), width_(scale.mean.size()), labels_(options.label_weights.size()), options_(options) {
    x_.reserve(rows.values.size());
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      for (std::size_t d = 0; d < width_; ++d) x_.push_back((rows.row(i)[d] - scale.mean[d]) * scale.inverse[d]);
    // Divided by this, the least loss does not grow with the set: what the ends of the search are set for.
    for (const auto label : rows.labels) total_ += options.label_weights[static_cast<std::size_t>(label)];
    total_ = std::max(total_, 1e-12);
  }

  std::size_t parameters() const { return (width_ + 1) * labels_; }

  double at(const Values& p, Values& gradient) const {
    std::ranges::fill(gradient, 0);
    double loss = 0;
    Values logits(labels_);
    for (std::size_t i = 0; i < rows_.labels.size(); ++i) {
      const double* x = x_.data() + i * width_;
      std::copy_n(p.end() - static_cast<std::ptrdiff_t>(labels_), labels_, logits.begin());
      for (std::size_t d = 0; d < width_; ++d)
        for (std::size_t k = 0; k < labels_; ++k) logits[k] += x[d] * p[d * labels_ + k];
      normalise(logits);
      const auto truth = static_cast<std::size_t>(rows_.labels[i]);
      const double weight = options_.label_weights[truth] / total_;
      loss -= weight * logits[truth];
      for (double& logit : logits) logit = weight * std::exp(logit);
      logits[truth] -= weight;
      for (std::size_t d = 0; d < width_; ++d)
        for (std::size_t k = 0; k < labels_; ++k) gradient[d * labels_ + k] += x[d] * logits[k];
      for (std::size_t k = 0; k < labels_; ++k) gradient[width_ * labels_ + k] += logits[k];
    }
    const double penalty = 1 / (options_.strength * total_);
    for (std::size_t i = 0; i < width_ * labels_; ++i) {
      loss += penalty / 2 * p[i] * p[i];
      gradient[i] += penalty * p[i];
    }
    return loss;
  }

 private:
  const RegressionRows& rows_;
  std::size_t width_, labels_;
  const RegressionOptions& options_;
  Values x_{};
  double total_ = 0;
};

/// One pair of L-BFGS: a step and what it changed of the gradient.
struct Pair {
  Values step, change;
  double curvature = 0;
};

/// The direction of the next step: the gradient, by the curvature that the last steps have shown (Nocedal 1980).
Values direction_of(const Values& gradient, const std::deque<Pair>& pairs) {
  Values q = gradient;
  std::vector<double> alphas(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alphas[i] = product(pairs[i].step, q) / pairs[i].curvature;
    add(q, -alphas[i], pairs[i].change);
  }
  if (!pairs.empty()) {
    const double scale = pairs.back().curvature / product(pairs.back().change, pairs.back().change);
    for (double& value : q) value *= scale;
  }
  for (std::size_t i = 0; i < pairs.size(); ++i)
    add(q, alphas[i] - product(pairs[i].change, q) / pairs[i].curvature, pairs[i].step);
  for (double& value : q) value = -value;
  return q;
}

/// The least of a convex loss.
Values minimised(const Loss& loss) {
  constexpr int kMostSteps = 400, kMostHalvings = 30;
  constexpr std::size_t kPairs = 10;
  constexpr double kFlat = 1e-7, kEnough = 1e-4;
  Values at(loss.parameters()), gradient(at.size()), next_gradient(at.size());
  double value = loss.at(at, gradient);
  std::deque<Pair> pairs;
  for (int step = 0; step < kMostSteps && product(gradient, gradient) > kFlat * kFlat; ++step) {
    const Values direction = direction_of(gradient, pairs);
    const double slope = product(direction, gradient);
    double length = pairs.empty() ? 1 / std::max(1.0, std::sqrt(product(gradient, gradient))) : 1;
    Values next;
    double next_value = value;
    for (int halving = 0; halving < kMostHalvings; ++halving, length /= 2) {
      next = at;
      add(next, length, direction);
      next_value = loss.at(next, next_gradient);
      if (next_value <= value + kEnough * length * slope) break;
    }
    if (!(next_value < value)) break;
    Pair pair{.step = next, .change = next_gradient};
    add(pair.step, -1, at);
    add(pair.change, -1, gradient);
    pair.curvature = product(pair.step, pair.change);
    if (pair.curvature > 0) pairs.push_back(std::move(pair));
    if (pairs.size() > kPairs) pairs.pop_front();
    at = std::move(next);
    gradient = next_gradient;
    value = next_value;
  }
  return at;
}

}  // namespace

std::vector<double> LogisticRegression::log_probabilities(std::span<const double> row) const {
  Values logits = biases;
  for (std::size_t k = 0; k < logits.size(); ++k)
    for (std::size_t d = 0; d < row.size(); ++d) logits[k] += weights[k * row.size() + d] * row[d];
  normalise(logits);
  return logits;
}

LogisticRegression fitted_regression(const RegressionRows& rows, const RegressionOptions& options) {
  const Scale scale(rows);
  const Values found = minimised(Loss(rows, scale, options));
  const auto width = static_cast<std::size_t>(rows.width), labels = options.label_weights.size();
  LogisticRegression fitted{.width = rows.width, .weights = Values(labels * width), .biases = Values(labels)};
  for (std::size_t k = 0; k < labels; ++k) {
    fitted.biases[k] = found[width * labels + k];
    for (std::size_t d = 0; d < width; ++d) {
      const double weight = found[d * labels + k] * scale.inverse[d];
      fitted.weights[k * width + d] = weight;
      fitted.biases[k] -= weight * scale.mean[d];
    }
  }
  return fitted;
}

}  // namespace tutti
