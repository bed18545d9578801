#include "advise/repeated_steps.h"

namespace tutti {
namespace {

constexpr std::size_t kMostNames = 65'536;
constexpr std::size_t kLeastSteps = 3;
constexpr std::size_t kLeastNames = 3;  // of a step: what only repeats itself has none
constexpr double kLeastAlike = 0.8;

// Odd, so that it has an inverse modulo 2^64: with that the hash of a part does not depend on where it is.
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15;

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;  // right in three bits; each of Newton's steps doubles them
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}
static_assert(kBase * inverse_of(kBase) == 1);

}  // namespace

void RepeatedSteps::add(std::uint64_t name, Nanoseconds start) {
  auto seen = names_.find(name);
  if (seen == names_.end() && names_.size() < kMostNames)
    seen = names_.emplace(name, Seen{.first_at = count_, .first = start}).first;
  if (seen != names_.end()) {
    Seen& it = seen->second;
    // The names since the last occurrence, moved so that they begin at power 1.
    const std::uint64_t step = (hash_ - it.before) * inverse_power_;
    if (it.count >= 2 && step == it.last_step) ++it.alike;
    it.last_step = step;
    it.before = hash_;
    it.last = start;
    ++it.count;
  }
  hash_ += (name | 1) * power_;
  power_ *= kBase;
  inverse_power_ *= inverse_of(kBase);
  ++count_;
}

std::optional<StepCount> RepeatedSteps::found() const {
  const Seen* best = nullptr;
  for (const auto& [name, it] : names_) {
    if (it.count < kLeastSteps || count_ < kLeastNames * it.count ||
        static_cast<double>(it.alike) < kLeastAlike * static_cast<double>(it.count - 2))
      continue;
    if (!best || it.count < best->count || (it.count == best->count && it.first_at < best->first_at)) best = &it;
  }
  if (!best) return {};
  return StepCount{best->count, (best->last - best->first) / static_cast<Nanoseconds>(best->count - 1)};
}

}  // namespace tutti
