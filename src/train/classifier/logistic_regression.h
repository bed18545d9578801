#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// What a regression learns from: rows of `width` values, each with its label.
struct RegressionRows {
  std::int64_t width = 0;
  std::vector<double> values{};  ///< [rows, width]
  std::vector<std::int64_t> labels{};

  std::int64_t rows() const { return static_cast<std::int64_t>(labels.size()); }
  std::span<const double> row(std::int64_t index) const {
    return std::span(values).subspan(static_cast<std::size_t>(index * width), static_cast<std::size_t>(width));
  }
};

/// How a regression is fitted.
struct RegressionOptions {
  double strength = 1;                  ///< inverse of the penalty, as C of scikit-learn: less makes weights smaller
  std::vector<double> label_weights{};  ///< times that each label counts in the loss; its length is how many there are
};

/// Multinomial logistic regression: which label a row of values has.
struct LogisticRegression {
  std::int64_t width = 0;
  std::vector<double> weights{};  ///< [labels, width], of values as they are
  std::vector<double> biases{};   ///< [labels]

  std::int64_t labels() const { return static_cast<std::int64_t>(biases.size()); }
  /// The natural logarithm of each label's probability.
  std::vector<double> log_probabilities(std::span<const double> row) const;
};

/// Minimises strength times the cross-entropy of all rows plus half the square of the weights, of values that are
/// standardised by these rows. L-BFGS in double precision and one thread: the same rows give the same bits on the same
/// machine. Pure.
LogisticRegression fitted_regression(const RegressionRows& rows, const RegressionOptions& options);

}  // namespace tutti
