#include "transcribe/speech_chunks.h"

#include <algorithm>
#include <cmath>

#include "audio/mel/log_mel.h"
#include "base/try.h"
#include "base/units.h"
#include "transcript/clips.h"

namespace tutti {
namespace {

/// Shorter gaps are pauses as others are.
bool is_long(const SampleRange& gap) {
  return length_of(gap.end - gap.start, kModelRate) >= Seconds(1);
}

/// How many of the pieces come before a long gap of the recording, or before what is in no clip.
std::size_t pieces_before_gap(std::span<const SpeechPiece> pieces, std::span<const SampleRange> gaps,
                              std::span<const SampleRange> between_clips = {}) {
  const auto has_gap_between = [&](const SpeechPiece& before, const SpeechPiece& after) {
    const auto is_between = [&](const SampleRange& gap) {
      const std::int64_t middle = (gap.start + gap.end) / 2;
      return before.end <= middle && middle < after.start;
    };
    return std::ranges::any_of(gaps, [&](const SampleRange& gap) { return is_long(gap) && is_between(gap); }) ||
           std::ranges::any_of(between_clips, is_between) || after.start < before.end;
  };
  std::size_t count = 1;
  while (count < pieces.size() && !has_gap_between(pieces[count - 1], pieces[count])) ++count;
  return count;
}

/// Windows in a row about a sample whose probability is below `up`.
std::int64_t pause_about(std::int64_t sample, std::span<const float> probabilities, float up) {
  const auto is_up = [&](std::int64_t window) {
    return window >= 0 && window < std::ssize(probabilities) && probabilities[static_cast<std::size_t>(window)] < up;
  };
  const std::int64_t middle = sample / kVadWindow;
  std::int64_t from = middle, to = middle;
  while (is_up(from - 1)) --from;
  while (is_up(to)) ++to;
  return to - from;
}

/// How many of the pieces make a chunk of at most so many samples: up to the first pause between transmissions, else
/// half as many samples at least, up to the longest pause; all of them, if they are no more.
std::size_t pieces_until_pause(std::span<const SpeechPiece> pieces, std::span<const float> probabilities, float up,
                               std::int64_t most) {
  std::int64_t longest = -1;
  std::size_t best = 1;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t samples = pieces[i].end - pieces.front().start;
    if (samples > most) return best;
    if (i + 1 == pieces.size()) return pieces.size();
    const std::int64_t pause = pause_about((pieces[i].end + pieces[i + 1].start) / 2, probabilities, up);
    if (length_of(pause * kVadWindow, kModelRate) >= kKeyedSilence) return i + 1;
    if (samples >= most / 2 && pause < longest) continue;
    if (samples >= most / 2) longest = pause;
    best = i + 1;
  }
  return best;
}

}  // namespace

void fit_keying(SpeechOptions& options, bool is_keyed_model) {
  options.keyed = options.vad && (is_keyed_model || options.vad->method == VadMethod::keying);
  if (!options.keyed) return;
  options.long_form.without_timestamps = true;
  options.long_form.condition_on_previous_text = false;
  options.long_form.compression_ratio_threshold.reset();
  // A model of Morse is sure of what it makes of noise, and knows that it is none: models/morse gives noise 0.19 and
  // more, and what was keyed 0.015 at most, down to -6 dB (2026-11-30).
  constexpr double kNoKeying = 0.1;
  const LongFormOptions usual;
  auto& improbable = options.long_form.logprob_threshold;
  if (improbable == usual.logprob_threshold) improbable.reset();
  auto& silent = options.long_form.no_speech_threshold;
  if (silent == usual.no_speech_threshold) silent = kNoKeying;
  options.decoding.timestamps = false;
}

std::int64_t SpeechChunk::first_frame() const {
  return pieces.front().start / kHopSamples;
}

std::int64_t SpeechChunk::frames() const {
  return samples / kHopSamples;
}

std::vector<double> clips_with_audio(std::span<const double> clip_points, std::span<const SampleRange> gaps,
                                     std::int64_t samples) {
  const std::vector<double> whole{0};
  const std::span<const double> points = clip_points.empty() ? std::span<const double>(whole) : clip_points;
  std::vector<double> clips;
  bool has_gap = false;
  for (std::size_t i = 0; i < points.size(); i += 2) {
    double start = points[i];
    const double all = length_of(samples, kModelRate).count();
    const double end = i + 1 < points.size() ? points[i + 1] : std::max(all, start);
    for (const SampleRange& gap : gaps) {
      const double from = length_of(gap.start, kModelRate).count(), to = length_of(gap.end, kModelRate).count();
      if (!is_long(gap) || to <= start || from >= end) continue;
      has_gap = true;
      if (from > start) clips.insert(clips.end(), {start, from});
      start = to;
    }
    if (start < end || clips.empty()) clips.insert(clips.end(), {std::min(start, end), end});
  }
  return has_gap ? clips : std::vector<double>(clip_points.begin(), clip_points.end());
}

Result<std::vector<SpeechPiece>> within_clips(std::span<const SpeechPiece> pieces, std::span<const double> clip_points,
                                              std::int64_t samples) {
  // Rounded up, so that clips without an end take the last samples along.
  const auto clips = TRY(clips_from(clip_points, (samples + kHopSamples - 1) / kHopSamples));
  std::vector<SpeechPiece> within;
  for (const Clip& clip : clips) {
    const std::int64_t from = clip.start * kHopSamples, to = clip.end * kHopSamples;
    for (SpeechPiece piece : pieces) {
      piece.forced_cut = piece.forced_cut && piece.end <= to;
      piece.start = std::max(piece.start, from);
      piece.end = std::min(piece.end, to);
      if (piece.start < piece.end) within.push_back(piece);
    }
  }
  return within;
}

std::vector<SampleRange> between_clips(std::span<const double> clip_points, std::int64_t samples) {
  std::vector<SampleRange> between;
  const auto clips = clips_from(clip_points, (samples + kHopSamples - 1) / kHopSamples);
  for (std::size_t i = 1; clips && i < clips->size(); ++i)
    if ((*clips)[i - 1].end < (*clips)[i].start)
      between.push_back({(*clips)[i - 1].end * kHopSamples, (*clips)[i].start * kHopSamples});
  return between;
}

std::vector<SpeechChunk> chunks_of(std::span<const SpeechPiece> pieces, std::int64_t frames_per_window,
                                   std::span<const SampleRange> gaps) {
  std::vector<SpeechChunk> chunks;
  while (!pieces.empty()) {
    const std::size_t count = pieces_before_gap(pieces, gaps);
    for (PackedPieces& packed : pack_windows(pieces.first(count), frames_per_window * kHopSamples)) {
      const std::int64_t samples = samples_of(packed);
      if (samples >= kHopSamples) chunks.push_back({std::move(packed), samples});
    }
    pieces = pieces.subspan(count);
  }
  return chunks;
}

std::vector<SpeechChunk> keyed_chunks_of(std::span<const SpeechPiece> pieces, std::span<const float> probabilities,
                                         float up, std::int64_t frames_per_window, std::span<const SampleRange> gaps,
                                         std::span<const SampleRange> between_clips) {
  const std::int64_t most = std::min(frames_per_window * kHopSamples, samples_in(kKeyedWindow, kModelRate));
  std::vector<SpeechChunk> chunks;
  while (!pieces.empty()) {
    const std::size_t count = pieces_before_gap(pieces, gaps, between_clips);
    for (auto rest = pieces.first(count); !rest.empty();) {
      const std::size_t taken = pieces_until_pause(rest, probabilities, up, most);
      // With what is between the pieces: a carrier is followed there, and a soft mark may be in it. A piece that is
      // longer than a window comes alone, and is cut.
      const SpeechPiece whole{rest.front().start, rest[taken - 1].end, rest[taken - 1].forced_cut};
      for (PackedPieces& packed : pack_windows(std::span(&whole, 1), most)) {
        const std::int64_t samples = samples_of(packed);
        if (samples >= kHopSamples) chunks.push_back({std::move(packed), samples});
      }
      rest = rest.subspan(taken);
    }
    pieces = pieces.subspan(count);
  }
  return chunks;
}

void end_with_audio(std::vector<Segment>& segments, Seconds audio) {
  for (Segment& segment : segments) {
    segment.end = std::min(segment.end, audio.count());
    segment.start = std::min(segment.start, segment.end);
  }
}

void restore_times(std::vector<Segment>& segments, const SpeechMap& map) {
  for (Segment& segment : segments) {
    segment.seek = std::llround(map.start(Seconds(static_cast<double>(segment.seek) / kFramesPerSecond)).count() *
                                kFramesPerSecond);
    segment.start = map.start(Seconds(segment.start)).count();
    // An empty segment at the border of two pieces would end before it starts.
    segment.end = std::max(segment.start, map.end(Seconds(segment.end)).count());
    for (Word& word : segment.words) {
      const auto span = map.word(Seconds(word.start), Seconds(word.end));
      word.start = span.start.count();
      word.end = span.end.count();
    }
    if (segment.words.empty()) continue;
    segment.start = segment.words.front().start;
    segment.end = segment.words.back().end;
  }
}

}  // namespace tutti
