#include "base/thread_choice.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr int kSeenEnough = 8;            // steps of a kind before its usual time counts
constexpr double kUsualWeight = 1. / 64;  // weight of a new step
constexpr double kRecentWeight = 1. / 32;
constexpr std::size_t kMostKinds = 256;
constexpr double kDriftPause = 0.25;  // part of a pause: drift is no reason for a trial right after the last

/// 1, 2, 3, 4, 6, 8, 12, 16, 24 and so on up to `most`.
std::vector<int> sizes_up_to(int most) {
  std::vector<int> sizes;
  for (int size = 1; size < most; size += size < 4 ? 1 : (size & (size - 1)) == 0 ? size / 2 : size / 3)
    sizes.push_back(size);
  sizes.push_back(std::max(most, 1));
  return sizes;
}

}  // namespace

ThreadChoice::ThreadChoice(int most, Rules rules)
    : rules_(rules), sizes_(sizes_up_to(most)), best_(sizes_.size() - 1), pause_(rules.pause) {}

int ThreadChoice::threads() const {
  return sizes_[trial_ && trial_->on_other ? trial_->other : best_];
}

void ThreadChoice::record(std::int64_t kind, double seconds) {
  if (sizes_.size() == 1) return;
  if (trial_) return try_step(usual_seconds(kind), seconds);
  worked_ += seconds;
  learn(kind, seconds);
  if (trial_is_due()) begin_trial();
}

std::optional<double> ThreadChoice::usual_seconds(std::int64_t kind) const {
  const auto found = usual_.find(kind);
  if (found == usual_.end() || found->second.seen < kSeenEnough) return std::nullopt;
  return found->second.seconds;
}

void ThreadChoice::learn(std::int64_t kind, double seconds) {
  if (usual_.size() >= kMostKinds) usual_.clear();
  auto& usual = usual_[kind];
  if (usual.seen >= kSeenEnough) recent_ += (seconds / usual.seconds - recent_) * kRecentWeight;
  ++usual.seen;
  usual.seconds += (seconds - usual.seconds) * std::max(1. / usual.seen, kUsualWeight);
}

bool ThreadChoice::trial_is_due() const {
  const bool drifted = recent_ > rules_.drift || recent_ * rules_.drift < 1;
  return worked_ >= (drifted ? kDriftPause * rules_.pause : pause_);
}

void ThreadChoice::begin_trial() {
  const bool drifted = worked_ < pause_;
  if (drifted) pause_ = rules_.pause;
  if (best_ == 0) go_down_ = false;
  if (best_ + 1 == sizes_.size()) go_down_ = true;
  trial_ = Trial{.other = go_down_ ? best_ - 1 : best_ + 1};
}

void ThreadChoice::try_step(std::optional<double> usual, double seconds) {
  auto& trial = *trial_;
  trial.block += seconds;
  if (usual) {
    auto& tried = trial.on_other ? trial.tried : trial.best;
    tried.seconds += seconds;
    tried.usual += *usual;
  }
  if (trial.block < rules_.block) return;
  trial.block = 0;
  trial.on_other = !trial.on_other;
  ++trial.blocks;
  if (trial.blocks % 2 != 0) return;
  const bool known = trial.best.usual > 0 && trial.tried.usual > 0;
  const double slower = known ? trial.tried.ratio() / trial.best.ratio() : 1;
  if (trial.blocks == 2 && slower > rules_.hopeless) return end_trial(false);
  if (trial.blocks < 2 * rules_.blocks) return;
  const bool fewer = trial.other < best_;
  end_trial(known && (fewer ? slower < rules_.worth : slower * rules_.worth < 1));
}

void ThreadChoice::end_trial(bool take_other) {
  const auto trial = *trial_;
  trial_.reset();
  worked_ = 0;
  recent_ = 1;
  pause_ = take_other ? rules_.pause : std::min(2 * pause_, rules_.longest_pause);
  if (!take_other) {
    go_down_ = !go_down_;
    return;
  }
  best_ = trial.other;
  const double slower = trial.tried.ratio() / trial.best.ratio();
  for (auto& [kind, usual] : usual_) usual.seconds *= slower;
}

}  // namespace tutti
