#include "train/task.h"

namespace tutti {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

FrameCounts& FrameCounts::operator+=(const FrameCounts& more) {
  computed += more.computed;
  padding += more.padding;
  filled_up += more.filled_up;
  return *this;
}

double FrameCounts::padding_share() const {
  return share_of(padding, computed);
}

double FrameCounts::needed_share() const {
  return share_of(padding - filled_up, computed - filled_up);
}

}  // namespace tutti
