#include "balance/speed_model.h"

#include <algorithm>
#include <cmath>

#include "balance/window_cost.h"
#include "base/order_statistics.h"

namespace tutti {
namespace {

// Pieces over which is averaged. A device that works on one piece behind the other looks fast by those that are done
// first, as all in flight are thought to share its time, and slow by the last: only over several times as many as are
// in flight together do the shares add up.
constexpr double kLeastMemory = 5, kMemoryPerPiece = 4;
constexpr double kLeastSpread = 0.1;  // spread of audio lengths, relative, from which a fixed cost can be separated
constexpr std::size_t kErrors = 101;
constexpr double kLeastSpeed = 1e-6;  // times are divided by it

}  // namespace

void SpeedModel::Level::add(double d, double e, double kept) {
  weight = kept * weight + 1;
  audio = kept * audio + d;
  spent = kept * spent + e;
  audio_squared = kept * audio_squared + d * d;
  audio_spent = kept * audio_spent + d * e;
}

/// Where the line through the samples meets audio 0; none while they are too alike to say.
std::optional<double> SpeedModel::Level::intercept() const {
  const double mean = audio / weight;
  const double variance = audio_squared / weight - mean * mean;
  if (weight < 2.5 || variance < kLeastSpread * kLeastSpread * mean * mean) return {};
  const double slope = (audio_spent / weight - mean * spent / weight) / variance;
  return spent / weight - slope * mean;
}

SpeedModel::SpeedModel(double speed, int enough)
    : prior_speed_(std::max(speed, kLeastSpeed)), enough_(std::max(enough, 1)) {}

void SpeedModel::believe(double speed) {
  prior_speed_ = std::max(speed, kLeastSpeed);
}

std::size_t SpeedModel::level_of(double pieces) {
  const double bits = std::ceil(std::log2(std::max(pieces, 1.0)) - 1e-9);
  return std::min<std::size_t>(static_cast<std::size_t>(bits), 8);
}

double SpeedModel::prior(double pieces) const {
  return prior_speed_ * std::min(1.0, std::max(pieces, 1.0) / enough_);
}

double SpeedModel::measured_in(const Level& level) const {
  const double time = std::max(level.spent - level.weight * fixed_.count(), 0.05 * level.spent);
  return level.audio / std::max(time, 1e-9);
}

std::vector<SpeedView> SpeedModel::views() const {
  std::vector<SpeedView> views;
  for (std::size_t at = 0; at < levels_.size(); ++at)
    if (levels_[at].weight > 0)
      views.push_back({.pieces = 1 << at,
                       .speed = measured_in(levels_[at]),
                       .fixed = fixed_,
                       .samples = levels_[at].samples,
                       .error = error()});
  return views;
}

double SpeedModel::speed(int pieces) const {
  const auto wanted = static_cast<int>(level_of(pieces));
  const int last = static_cast<int>(levels_.size()) - 1;
  for (int away = 0; away <= last; ++away)
    for (const int at : {wanted + away, wanted - away}) {
      if (at < 0 || at > last || levels_[static_cast<std::size_t>(at)].weight == 0) continue;
      const Level& level = levels_[static_cast<std::size_t>(at)];
      const double measured = measured_in(level);
      return away == 0 ? measured : measured * prior(pieces) / prior(std::exp2(at));
    }
  return prior(pieces);
}

double SpeedModel::through(Seconds piece, int pieces) const {
  const double plain = speed(pieces);
  if (fixed_ <= Seconds::zero() || piece <= Seconds::zero()) return plain;
  return piece / (fixed_ + piece / plain);
}

double SpeedModel::doubt(Seconds piece) const {
  constexpr double kEvenly = 0.577;  // from nothing to all of the cost is fixed: the root of the mean square of 0 to 1
  const bool nothing_measured = errors_.empty();
  if (separated_ || nothing_measured || piece <= Seconds::zero()) return 0;
  return std::min(1.0, kEvenly * std::abs(1 - usual_piece() / piece));
}

Seconds SpeedModel::usual_piece() const {
  double weight = 0, audio = 0;
  for (const Level& level : levels_) {
    weight += level.weight;
    audio += level.audio;
  }
  return weight > 0 ? Seconds(audio / weight) : kFullWindow;
}

void SpeedModel::measured(Seconds audio, Seconds spent, double pieces) {
  if (audio.count() <= 0 || spent.count() <= 0) return;
  const Seconds expected = cost(audio, static_cast<int>(std::lround(std::max(pieces, 1.0))));
  errors_.push_back(std::abs(expected / spent - 1));
  if (errors_.size() > kErrors) errors_.pop_front();
  Level& level = levels_[level_of(pieces)];
  ++level.samples;
  level.add(audio.count(), spent.count(), 1 - 1 / std::max(kLeastMemory, kMemoryPerPiece * pieces));
  if (const auto fixed = level.intercept()) {
    fixed_ = Seconds(std::clamp(*fixed, 0.0, 0.5 * level.spent / level.weight));
    separated_ = true;
  }
}

std::optional<double> SpeedModel::error() const {
  if (errors_.empty()) return {};
  return median_of(std::vector<double>(errors_.begin(), errors_.end()));
}

}  // namespace tutti
