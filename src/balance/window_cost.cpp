#include "balance/window_cost.h"

#include <algorithm>
#include <cmath>

namespace tutti {
namespace {

// Standard deviations, relative.
constexpr double kBetweenRuns = 0.05;  // spread over runs of the same windows: others speak faster, other work runs
// A device starts and ends with fewer windows in flight than its capacity. A run that fills that just once leaves so
// much unknown of what the device would do in a long one.
constexpr double kFilling = 0.25, kMostFilling = 0.5;
constexpr double kAgeing = 0.02;  // what one more run since may have changed: drivers, this program, the recordings

// The fixed share of a full window's cost: anything from none to all, evenly. It depends on the network, the device and
// how fast people speak; the encoder alone had a fifth in docs/examples.md (0.99 s beside 3.60 s of decoding).
constexpr double kFixed = 0.5, kFixedDoubt = 0.289;
constexpr double kLeastByAudio = 0.05;  // share of a mean window's cost that goes by its audio, at least

constexpr double kSupposedRuns = 4;  // that differed as supposed, beside those that were measured
constexpr double kLeastError = 0.02, kMostError = 0.5;

double squared(double value) {
  return value * value;
}

double filling(const WindowWork& work) {
  return std::min(kMostFilling, kFilling * work.capacity / std::max(1.0, work.windows));
}

/// How far a run's mean window may be off the line, when so many runs came after it.
double variance(const WindowWork& run, std::size_t age) {
  return squared(kBetweenRuns) + squared(filling(run)) + squared(kAgeing) * static_cast<double>(age);
}

}  // namespace

double windows_in(Seconds audio) {
  return std::max(1.0, std::ceil(audio / kFullWindow - 1e-9));
}

WindowCost::WindowCost(std::span<const WindowWork> runs) {
  double weight = 0;
  for (std::size_t age = 0; age < runs.size(); ++age) {
    const double its = 1 / variance(runs[age], age);
    weight += its;
    mean_ += its * runs[age].audio / runs[age].windows;
    cost_ += its * runs[age].busy / runs[age].windows;
  }
  mean_ /= weight;
  cost_ /= weight;
  level_doubt_ = 1 / weight;
  draw_line(runs);
}

/// Finds how the cost goes by the audio, and how far the runs are from that line; old ones as if they were new, so that
/// the band is not narrower than they differ. What is supposed of the share counts by its doubt, as one more
/// measurement, and is no surer where runs with windows of one length differed less than expected.
void WindowCost::draw_line(std::span<const WindowWork> runs) {
  const double full = mean_ / kFullWindow;
  const double whole = kFixed + (1 - kFixed) * full;  // cost of a mean window, as a share of a full one's
  const double supposed = 1 - kFixed / whole, doubt = squared(kFixedDoubt * full / squared(whole));
  const auto above = [&](const WindowWork& run) { return run.busy / run.windows / cost_ - 1; };
  double precision = 0, sum = supposed / doubt;
  for (std::size_t age = 0; age < runs.size(); ++age) {
    const double its = 1 / variance(runs[age], age), away = length(runs[age].audio / runs[age].windows);
    precision += its * squared(away);
    sum += its * away * above(runs[age]);
  }
  share_ = std::clamp(sum / (1 / doubt + precision), kLeastByAudio, 1.0);
  double off = 0;
  for (const auto& run : runs) off += squared(above(run) - share_ * length(run.audio / run.windows)) / variance(run, 0);
  scatter_ = (kSupposedRuns + off) / (kSupposedRuns + static_cast<double>(runs.size() - 1));
  share_doubt_ = 1 / (1 / doubt + precision / scatter_);
}

Seconds WindowCost::fixed() const {
  return cost_ * (1 - share_);
}

double WindowCost::speed() const {
  return mean_ / cost_ / share_;
}

double WindowCost::through(Seconds window) const {
  return window / (fixed() + window / speed());
}

double WindowCost::error(const WindowWork& work) const {
  const double away = length(work.audio / work.windows), cost = 1 + share_ * away;
  const double line = (scatter_ * level_doubt_ + squared(away) * share_doubt_) / squared(cost);
  const double its_own = scatter_ * (squared(kBetweenRuns) + squared(filling(work)));
  return std::clamp(std::sqrt(line + its_own), kLeastError, kMostError);
}

}  // namespace tutti
