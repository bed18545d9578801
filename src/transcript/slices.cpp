#include "transcript/slices.h"

#include <algorithm>

namespace tutti {
namespace {

using Tokens = std::span<const std::int32_t>;

constexpr std::int64_t kFramesPerTimestamp = 2;
constexpr double kHop = 160;
constexpr double kRate = 16000;
constexpr double kTimePrecision = kFramesPerTimestamp * kHop / kRate;  // 0.02 s a timestamp token

/// One window's tokens with their timestamps readable.
struct Reading {
  Tokens tokens;
  WindowSpan window;
  std::int32_t timestamp_begin;

  bool is_timestamp(std::size_t i) const { return tokens[i] >= timestamp_begin; }

  /// Timestamp steps from the window's start. A slice that begins with text, which the timestamp rules never produce,
  /// begins with the window.
  std::int64_t steps(std::int32_t token) const { return std::max(token - timestamp_begin, 0); }

  double time(std::int32_t token) const {
    return seconds_of_frames(window.seek) + static_cast<double>(steps(token)) * kTimePrecision;
  }

  bool ends_in_single_timestamp() const {
    const std::size_t n = tokens.size();
    return n >= 2 && !is_timestamp(n - 2) && is_timestamp(n - 1);
  }

  /// Indices of timestamps that follow a timestamp.
  std::vector<std::size_t> pair_ends() const {
    std::vector<std::size_t> ends;
    for (std::size_t i = 1; i < tokens.size(); ++i)
      if (is_timestamp(i - 1) && is_timestamp(i)) ends.push_back(i);
    return ends;
  }

  Slice slice(std::size_t from, std::size_t to) const {
    const Tokens part = tokens.subspan(from, to - from);
    return {time(part.front()), time(part.back()), part};
  }

  /// The whole window as one segment, ending at its last timestamp if that is more than 0.00.
  Slice whole() const {
    const auto last = std::find_if(tokens.rbegin(), tokens.rend(), [&](auto id) { return id >= timestamp_begin; });
    const double start = seconds_of_frames(window.seek);
    const bool has_end = last != tokens.rend() && *last != timestamp_begin;
    return {start, has_end ? time(*last) : start + seconds_of_frames(window.frames), tokens};
  }
};

}  // namespace

double seconds_of_frames(std::int64_t frames) {
  return static_cast<double>(frames) * kHop / kRate;
}

SlicedWindow slice_window(Tokens tokens, WindowSpan window, std::int32_t timestamp_begin) {
  const Reading reading{tokens, window, timestamp_begin};
  const std::int64_t behind = window.seek + window.frames;
  std::vector<std::size_t> cuts = reading.pair_ends();
  const bool closed = reading.ends_in_single_timestamp();
  if (cuts.empty()) return {{reading.whole()}, behind, closed};

  if (closed) cuts.push_back(tokens.size());
  SlicedWindow sliced{.closed = closed};
  std::size_t from = 0;
  for (const std::size_t to : cuts) {
    sliced.slices.push_back(reading.slice(from, to));
    from = to;
  }
  const std::int64_t decoded_frames = reading.steps(tokens[from - 1]) * kFramesPerTimestamp;
  // A last pair at 0.00 would show the same window for ever; the timestamp rules forbid it, but not every answer obeys.
  sliced.next_seek = closed || decoded_frames == 0 ? behind : window.seek + decoded_frames;
  return sliced;
}

}  // namespace tutti
