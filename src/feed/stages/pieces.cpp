#include "feed/stages/pieces.h"

#include <algorithm>
#include <cstdio>

namespace tutti {
namespace {

constexpr double kSilenceKept = 1;  // seconds beside a piece's text

tl::unexpected<Error> does_not_fit(const Segment& segment, double window) {
  char text[160];
  std::snprintf(text, sizeof text,
                "the text from %.2f s to %.2f s lasts longer than the %.2f s the model hears, and the "
                "times of its words are not known",
                segment.start, segment.end, window);
  return fail(Fault::corrupt, text, "Transcribe with --word_timestamps True, or cut it by hand");
}

/// What may not be parted: segments, or the words of those that are too long.
Result<std::vector<TimedText>> units_of(const Transcript& transcript, double seconds, double window) {
  std::vector<TimedText> units;
  for (const Segment& segment : transcript.segments) {
    if (segment.end > seconds + 1 || segment.end < segment.start)
      return fail(Fault::corrupt, "its transcript has text at " + std::to_string(segment.end) +
                                      " s, the recording ends at " + std::to_string(seconds) + " s");
    if (segment.end - segment.start <= window - 2 * kCutSearch) {
      units.push_back({segment.start, segment.end, segment.text});
      continue;
    }
    if (segment.words.empty()) return does_not_fit(segment, window);
    for (const Word& word : segment.words) units.push_back({word.start, word.end, word.word});
  }
  return units;
}

Piece piece_of(std::span<const TimedText> units, double after, double before, double seconds) {
  Piece piece;
  piece.start = std::max({units.front().start - kSilenceKept, after, 0.0});
  piece.end = std::min({units.back().end + kSilenceKept, before, seconds});
  piece.cut_start = piece.start > kCutSearch;
  piece.cut_end = piece.end < seconds - kCutSearch;
  for (const TimedText& unit : units) {
    piece.text += unit.text;
    piece.times.push_back({unit.start, unit.end, trimmed(unit.text)});
  }
  piece.text = trimmed(piece.text);
  return piece;
}

}  // namespace

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? std::string() : text.substr(first, last - first + 1);
}

Result<std::vector<Piece>> cut_pieces(const Transcript& transcript, double seconds, double window) {
  const auto units = units_of(transcript, seconds, window);
  if (!units) return tl::unexpected(units.error());
  if (units->empty()) return fail(Fault::corrupt, "its text is missing");
  const std::span<const TimedText> all(*units);
  std::vector<Piece> pieces;
  double after = 0;  // where the piece before ends
  for (std::size_t first = 0; first < all.size();) {
    Piece piece;
    std::size_t next = first;
    // As many as fit, cut half-way to the next; at least one, whatever silence it brings.
    while (next < all.size()) {
      const double before = next + 1 < all.size() ? (all[next].end + all[next + 1].start) / 2 : seconds;
      Piece longer = piece_of(all.subspan(first, next + 1 - first), after, before, seconds);
      const double room = window - 2 * kCutSearch;
      if (next > first && longer.end - longer.start > room) break;
      if (longer.end - longer.start > room) {
        longer.start = std::max(longer.start, all[first].start);
        longer.end = std::min(longer.end, longer.start + room);
      }
      piece = std::move(longer);
      ++next;
    }
    after = piece.end;
    first = next;
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::int64_t quietest(std::span<const std::int16_t> pcm, std::int64_t first, std::int64_t last) {
  constexpr std::int64_t kWindow = 320, kStep = 80;
  first = std::max<std::int64_t>(first, 0);
  last = std::min<std::int64_t>(last, std::ssize(pcm));
  std::int64_t best = (first + last) / 2;
  std::int64_t least = -1;
  for (std::int64_t at = first; at + kWindow <= last; at += kStep) {
    std::int64_t energy = 0;
    for (const std::int16_t sample : pcm.subspan(static_cast<std::size_t>(at), kWindow))
      energy += std::int64_t{sample} * sample;
    if (least >= 0 && energy >= least) continue;
    least = energy;
    best = at + kWindow / 2;
  }
  return best;
}

}  // namespace tutti
