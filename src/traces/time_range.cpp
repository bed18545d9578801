#include "traces/time_range.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

constexpr Nanoseconds kMinute = 60'000'000'000, kFar = 10 * kMinute, kSecond = 1'000'000'000;
constexpr Nanoseconds kMost = 3'000'000'000'000'000'000;  // sums and differences of two are valid
constexpr std::size_t kMostParts = 65'536;

/// How far from a range an event may be.
Nanoseconds reach_of(const TimeRange& range) {
  return std::max(kFar, 10 * std::min(range.last - range.first, kMost / 10));
}

/// The same where most events are close to one another.
Nanoseconds near_reach(const TimeRange& range, Nanoseconds least) {
  return std::max(least, 100 * std::min(range.last - range.first, kMost / 100));
}

/// How far a time is outside of a range.
Nanoseconds away(Nanoseconds time, const TimeRange& range) {
  return std::max(range.first - std::min(time, range.first), std::max(time, range.last) - range.last);
}

bool are_few(std::size_t count, std::size_t all) {
  return 100 * count <= all || (count < 20 && 8 * count <= all);
}

}  // namespace

bool TimeRange::has(HostSpan span) const {
  const Nanoseconds reach = span.start == 0 ? std::max(kMinute, last - first) : reach_of(*this);
  return first - std::min(span.start, first) <= reach && std::max(span.end, last) - last <= reach_of(*this) &&
         std::max(span.start, last) - last <= reach;
}

bool TimeRange::has_work(HostSpan span) const {
  const Nanoseconds length = std::min(last - first, kMost / 2);
  const Nanoseconds reach = span.start == 0 ? std::max(kSecond, 2 * length) : near_reach(*this, kSecond);
  return away(span.start, *this) <= reach && away(span.end, *this) <= near_reach(*this, kMinute);
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

/// What gaps longer than that divide.
std::vector<TraceTimes::Part> TraceTimes::parts_between(Nanoseconds gap) const {
  std::vector<Part> parts;
  for (const auto& [_, part] : parts_) {
    if (parts.empty() || part.range.first - parts.back().range.last > gap)
      parts.push_back(part);
    else
      parts.back().add(part);
  }
  return parts;
}

TimeRange TraceTimes::range() const {
  auto parts = parts_between(kFar);
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
  const auto close = parts_between(kSecond);
  const Part core = *std::ranges::max_element(close, std::less(), &Part::count);
  std::size_t all = 0;
  for (const Part& part : close) all += part.count;
  if (4 * core.count < 3 * all) return most.range;
  Part kept = core;
  for (const Part& part : close) {
    const bool is_of_most = part.range.first >= most.range.first && part.range.last <= most.range.last;
    const bool is_near = std::min(away(part.range.first, core.range), away(part.range.last, core.range)) <=
                         near_reach(core.range, kSecond);
    if (is_of_most && (is_near || !are_few(part.count, all))) kept.add(part);
  }
  return kept.range;
}

}  // namespace tutti
