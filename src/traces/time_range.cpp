#include "traces/time_range.h"

#include <algorithm>
#include <vector>

namespace tutti {
namespace {

constexpr Nanoseconds kMinute = 60'000'000'000, kFar = 10 * kMinute;
constexpr Nanoseconds kMost = 3'000'000'000'000'000'000;  // sums and differences of two are valid
constexpr std::size_t kMostParts = 65'536;

/// How far from a range an event may be.
Nanoseconds reach_of(const TimeRange& range) {
  return std::max(kFar, 10 * std::min(range.last - range.first, kMost / 10));
}

}  // namespace

bool TimeRange::has(HostSpan span) const {
  const Nanoseconds reach = span.start == 0 ? std::max(kMinute, last - first) : reach_of(*this);
  return first - std::min(span.start, first) <= reach && std::max(span.end, last) - last <= reach_of(*this) &&
         std::max(span.start, last) - last <= reach;
}

void TraceTimes::Part::add(const Part& other) {
  if (count == 0) range = other.range;
  count += other.count;
  range.first = std::min(range.first, other.range.first);
  range.last = std::max(range.last, other.range.last);
}

void TraceTimes::add(Nanoseconds start) {
  if (start == 0) return;
  if (const std::int64_t key = start / width_; !last_ || key != last_key_) {
    if (parts_.size() == kMostParts) {  // times without a pattern: a coarser look will do
      width_ *= 16;
      std::map<std::int64_t, Part> coarse;
      for (const auto& [_, part] : parts_) coarse[part.range.first / width_].add(part);
      parts_ = std::move(coarse);
    }
    last_key_ = start / width_;
    last_ = &parts_[last_key_];
  }
  last_->add({1, {start, start}});
}

TimeRange TraceTimes::range() const {
  std::vector<Part> parts;
  for (const auto& [_, part] : parts_) {
    if (parts.empty() || part.range.first - parts.back().range.last > kFar)
      parts.push_back(part);
    else
      parts.back().add(part);
  }
  if (parts.empty()) return {};
  auto first = std::ranges::max_element(parts, std::less(), &Part::count), last = first;
  Part most = *first;
  for (bool grew = true; grew;) {
    grew = false;
    const Nanoseconds reach = reach_of(most.range);
    if (first != parts.begin() && most.range.first - std::prev(first)->range.last <= reach) {
      most.add(*--first);
      grew = true;
    }
    if (std::next(last) != parts.end() && std::next(last)->range.first - most.range.last <= reach) {
      most.add(*++last);
      grew = true;
    }
  }
  return most.range;
}

}  // namespace tutti
