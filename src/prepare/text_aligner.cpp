#include "prepare/text_aligner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kMargin = 0.5;        // seconds that the times of a unit may be off
constexpr std::int32_t kSteering = 8;  // tokens around a text

}  // namespace

/// The audio of these units, with the margin on either side as far as the window allows.
WindowSpan TextAligner::span_of(const TextUnit& first, const TextUnit& last) const {
  const auto from = std::llround(std::max(0.0, first.segment.start - kMargin) * kFramesPerSecond);
  const auto to =
      std::min<std::int64_t>(std::llround((last.segment.end + kMargin) * kFramesPerSecond), input_.content_frames);
  return {.seek = from, .frames = std::max<std::int64_t>(0, to - from)};
}

/// Whether the units from the first to the last, neighbours in memory, fit one window.
bool TextAligner::fits(const TextUnit& first, const TextUnit& last) const {
  std::size_t tokens = 0;
  for (const TextUnit& unit : std::span(&first, &last + 1)) tokens += unit.segment.tokens.size();
  return span_of(first, last).frames <= input_.frames_per_window &&
         std::cmp_less_equal(tokens, input_.n_text_ctx - kSteering);
}

Result<void> TextAligner::align_group(std::span<TextUnit> group, double& last_speech, WindowDecoder& decoder) const {
  const auto window = span_of(group.front(), group.back());
  std::vector<Segment> segments;
  for (const TextUnit& unit : group) {
    segments.push_back(unit.segment);
    segments.back().seek = window.seek;
  }
  const AroundWindow around{.last_speech = last_speech, .content_frames = input_.content_frames};
  TRY(timer_.add_words(segments, window, {}, around, decoder));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    group[i].segment = std::move(segments[i]);
    group[i].score = mean_probability(group[i].segment.words);
    last_speech = std::max(last_speech, group[i].segment.end);
  }
  return {};
}

/// Together, or one by one where that goes wrong.
Result<void> TextAligner::align_run(std::span<TextUnit> run, double& last_speech, WindowDecoder& decoder) const {
  const std::vector<TextUnit> before(run.begin(), run.end());
  const double speech_before = last_speech;
  auto done = align_group(run, last_speech, decoder);
  const bool improbable = std::ranges::any_of(run, [&](const TextUnit& unit) { return unit.score < least_score_; });
  if (!done || run.size() == 1 || !improbable || !run.front().is_sure) return done;
  last_speech = speech_before;
  std::ranges::copy(before, run.begin());
  for (std::size_t i = 0; i < run.size() && done; ++i) done = align_group(run.subspan(i, 1), last_speech, decoder);
  return done;
}

/// Why a unit cannot be aligned; empty where it can.
std::string TextAligner::objection(const TextUnit& unit) const {
  if (!unit.refused.empty()) return unit.refused;
  if (unit.segment.start * kFramesPerSecond >= static_cast<double>(input_.content_frames))
    return "begins behind the end of the recording";
  return fits(unit, unit) ? "" : "is longer than the model's window or text context";
}

/// The end of the neighbours that are aligned together with the first of them: sure ones as far as the window reaches,
/// unsure ones all, as one of them may be anywhere.
std::size_t TextAligner::end_of_run(const std::vector<TextUnit>& units, std::size_t first) const {
  std::size_t next = first + 1;
  if (units[first].is_sure && !objection(units[first]).empty()) return next;
  const auto belongs = [&](const TextUnit& unit) {
    if (unit.is_sure != units[first].is_sure) return false;
    return !unit.is_sure || (objection(unit).empty() && fits(units[first], unit));
  };
  while (next < units.size() && belongs(units[next])) ++next;
  return next;
}

Result<void> TextAligner::align(std::vector<TextUnit>& units, WindowDecoder& decoder) const {
  double last_speech = 0;
  for (TextUnit& unit : units) unit.segment.tokens = tokenizer_.encode(" " + unit.segment.text);
  for (std::size_t first = 0; first < units.size();) {
    const std::size_t next = end_of_run(units, first);
    const auto run = std::span(units).subspan(first, next - first);
    const auto why = units[first].is_sure || fits(run.front(), run.back())
                         ? objection(run.front())
                         : "was not found, and what surrounds it is longer than the model's window";
    for (TextUnit& unit : run) unit.refused = why;
    if (why.empty()) TRY(align_run(run, last_speech, decoder));
    first = next;
  }
  return {};
}

}  // namespace tutti
