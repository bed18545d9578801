#include "audio/voice/speech_distance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <utility>

namespace tutti {
namespace {

constexpr std::int64_t kCoefficients = 24;

/// c1 to c24 of every frame: row-major [frames, kCoefficients].
std::vector<float> cepstra_of(const SpeechFrames& speech) {
  const auto bins = static_cast<std::size_t>(speech.n_mels);
  std::vector<double> cosines(static_cast<std::size_t>(kCoefficients) * bins);
  for (std::size_t m = 0; m < static_cast<std::size_t>(kCoefficients); ++m)
    for (std::size_t bin = 0; bin < bins; ++bin)
      cosines[m * bins + bin] =
          2.0 / speech.n_mels *
          std::cos(std::numbers::pi * static_cast<double>(m + 1) * (static_cast<double>(bin) + 0.5) / speech.n_mels);
  std::vector<float> cepstra;
  for (std::size_t frame = 0; frame < static_cast<std::size_t>(speech.frames()); ++frame)
    for (std::size_t m = 0; m < static_cast<std::size_t>(kCoefficients); ++m) {
      double sum = 0;
      for (std::size_t bin = 0; bin < bins; ++bin) sum += cosines[m * bins + bin] * speech.mel[frame * bins + bin];
      cepstra.push_back(static_cast<float>(sum));
    }
  return cepstra;
}

double decibels_between(const float* a, const float* b) {
  double sum = 0;
  for (std::int64_t i = 0; i < kCoefficients; ++i) {
    const double difference = a[i] - b[i];
    sum += difference * difference;
  }
  return 10 / std::numbers::ln10 * std::sqrt(2 * sum);
}

/// Pairs of frames that the sum of distances is least over, from first to last; `distances`: row-major [rows, columns].
std::vector<std::pair<std::int64_t, std::int64_t>> best_path(const std::vector<float>& distances, std::int64_t rows,
                                                             std::int64_t columns) {
  std::vector<float> sums(distances.size(), std::numeric_limits<float>::infinity());
  const auto at = [columns](std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(row * columns + column);
  };
  const auto sum_at = [&](std::int64_t row, std::int64_t column) {
    return row < 0 || column < 0 ? std::numeric_limits<float>::infinity() : sums[at(row, column)];
  };
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column) {
      const float before =
          row == 0 && column == 0
              ? 0
              : std::min({sum_at(row - 1, column - 1), sum_at(row - 1, column), sum_at(row, column - 1)});
      sums[at(row, column)] = before + distances[at(row, column)];
    }
  std::vector<std::pair<std::int64_t, std::int64_t>> path{{rows - 1, columns - 1}};
  while (path.back() != std::pair<std::int64_t, std::int64_t>(0, 0)) {
    const auto [row, column] = path.back();
    const float both = sum_at(row - 1, column - 1), up = sum_at(row - 1, column), left = sum_at(row, column - 1);
    if (both <= up && both <= left)
      path.emplace_back(row - 1, column - 1);
    else if (up <= left)
      path.emplace_back(row - 1, column);
    else
      path.emplace_back(row, column - 1);
  }
  std::ranges::reverse(path);
  return path;
}

}  // namespace

SpeechDistance speech_distance(const SpeechFrames& one, const SpeechFrames& other) {
  const auto rows = one.frames(), columns = other.frames();
  if (rows == 0 || columns == 0 || one.n_mels != other.n_mels)
    throw std::invalid_argument("speech_distance: expected frames with as many mels on both sides");
  const auto left = cepstra_of(one), right = cepstra_of(other);
  std::vector<float> distances(static_cast<std::size_t>(rows * columns));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t column = 0; column < columns; ++column)
      distances[static_cast<std::size_t>(row * columns + column)] = static_cast<float>(
          decibels_between(left.data() + row * kCoefficients, right.data() + column * kCoefficients));
  const auto path = best_path(distances, rows, columns);
  double cepstral = 0, squares = 0;
  std::int64_t voiced = 0, gross = 0, differs = 0;
  constexpr double kCents = 1200, kGross = 0.2;
  for (const auto& [row, column] : path) {
    cepstral += distances[static_cast<std::size_t>(row * columns + column)];
    const float a = one.pitch[static_cast<std::size_t>(row)], b = other.pitch[static_cast<std::size_t>(column)];
    differs += (a > 0) != (b > 0);
    if (a <= 0 || b <= 0) continue;
    ++voiced;
    if (std::abs(b / a - 1) > kGross) {
      ++gross;
      continue;
    }
    const double cents = kCents * std::log2(static_cast<double>(a) / b);
    squares += cents * cents;
  }
  const auto pairs = static_cast<double>(path.size());
  return {.cepstral = cepstral / pairs,
          .pitch_cents = voiced > gross ? std::sqrt(squares / static_cast<double>(voiced - gross)) : 0,
          .gross_share = voiced > 0 ? static_cast<double>(gross) / static_cast<double>(voiced) : 0,
          .voicing_share = static_cast<double>(differs) / pairs};
}

}  // namespace tutti
