#include "feed/stages/pieces.h"

#include <algorithm>
#include <cstdio>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr double kSilenceKept = 1;  // seconds beside a piece's text
constexpr double kMostOverlap = 1;  // seconds; times are rounded, and where two people talk at once a cut takes half of
                                    // it

tl::unexpected<Error> does_not_fit(const Segment& segment, double window) {
  char text[160];
  std::snprintf(text, sizeof text,
                "the text from %.2f s to %.2f s lasts longer than the %.2f s of the model's window, and the "
                "times of its words are not known",
                segment.start, segment.end, window);
  return fail(Fault::corrupt, text, "Transcribe with " + field("word_timestamps") + " True, or cut it by hand");
}

/// What may not be parted: segments, or the words of those that are too long.
Result<std::vector<TimedText>> units_of(const Transcript& transcript, double seconds, double window) {
  std::vector<TimedText> units;
  for (const Segment& segment : transcript.segments) {
    if (segment.end > seconds + 1 || segment.end < segment.start)
      return fail(Fault::corrupt, "its transcript has text at " + fixed_text(segment.end, 2) +
                                      " s, the recording ends at " + fixed_text(seconds, 2) + " s");
    if (segment.end - segment.start <= window - 2 * kCutSearch) {
      units.push_back({segment.start, segment.end, segment.text});
      continue;
    }
    if (segment.words.empty()) return does_not_fit(segment, window);
    for (const Word& word : segment.words) units.push_back({word.start, word.end, word.word});
  }
  return units;
}

/// A cut leaves each text its audio only where one is spoken behind the other, and no longer than the model's window.
Result<void> check_order(std::span<const TimedText> units, double window) {
  const auto at = [](double seconds) { return fixed_text(seconds, 2) + " s"; };
  double latest = 0;
  for (const TimedText& unit : units) {
    if (unit.start < latest - kMostOverlap)
      return fail(Fault::corrupt,
                  "its transcript has text at " + at(unit.start) + " behind text that lasts until " + at(latest) +
                      ": no cut leaves each its sound",
                  "Put its texts in the order of their times");
    if (unit.end - unit.start > window - 2 * kCutSearch)
      return fail(Fault::corrupt, "its transcript has one word from " + at(unit.start) + " to " + at(unit.end) +
                                      ", longer than the model's window");
    latest = std::max(latest, unit.end);
  }
  return {};
}

Piece piece_of(std::span<const TimedText> units, double after, double before, double seconds) {
  Piece piece;
  piece.start = std::max({units.front().start - kSilenceKept, after, 0.0});
  piece.end = std::min({units.back().end + kSilenceKept, before, seconds});
  piece.cut_start = piece.start > kCutSearch;
  piece.cut_end = piece.end < seconds - kCutSearch;
  for (const TimedText& unit : units) {
    piece.text += unit.text;
    piece.times.push_back({unit.start, unit.end, std::string(trimmed(unit.text))});
  }
  piece.text = std::string(trimmed(piece.text));
  return piece;
}

/// The audio of one piece after the other, over units that are not parted.
class Cutter {
 public:
  Cutter(std::span<const TimedText> units, double seconds, double window, const CutRule& rule)
      : units_(units), seconds_(seconds), window_(window), rule_(rule) {}

  std::vector<Piece> run() const {
    std::vector<Piece> pieces;
    double after = 0;  // no piece begins before
    for (std::size_t first = 0; first < units_.size();) {
      const std::size_t next = fill(first, after, pieces.emplace_back());
      const auto& piece = pieces.back();
      first = next == units_.size() ? next : begin_behind(piece, first, next);
      after = first == next ? piece.end : between(first - 1);
    }
    return pieces;
  }

 private:
  double between(std::size_t unit) const { return (units_[unit].end + units_[unit + 1].start) / 2; }

  double space(std::size_t first) const {
    const double whole = window_ - 2 * kCutSearch;
    if (rule_.chunking != Chunking::random) return whole;
    return whole * CounterRandom({rule_.key, first, digest("cut")}).uniform(0.5, 1);
  }

  /// As many units as fit, cut half-way to the next; at least one, whatever silence it brings. Returns the next one.
  std::size_t fill(std::size_t first, double after, Piece& piece) const {
    const double whole = window_ - 2 * kCutSearch, most = space(first);
    std::size_t next = first;
    while (next < units_.size()) {
      const double before = next + 1 < units_.size() ? between(next) : seconds_;
      Piece longer = piece_of(units_.subspan(first, next + 1 - first), after, before, seconds_);
      if (next > first && longer.end - longer.start > most) break;
      if (longer.end - longer.start > whole) {
        longer.start = std::max(longer.start, units_[first].start);
        longer.end = std::min(longer.end, longer.start + whole);
      }
      piece = std::move(longer);
      ++next;
    }
    return next;
  }

  /// Where the piece behind one of [first, next) begins.
  std::size_t begin_behind(const Piece& piece, std::size_t first, std::size_t next) const {
    if (rule_.chunking != Chunking::sliding) return next;
    const double middle = (piece.start + piece.end) / 2;
    for (std::size_t unit = first + 1; unit < next; ++unit)
      if (units_[unit].start >= middle) return unit;
    return next;
  }

  std::span<const TimedText> units_;
  double seconds_;
  double window_;
  CutRule rule_;
};

}  // namespace

Result<std::vector<Piece>> cut_pieces(const Transcript& transcript, double seconds, double window,
                                      const CutRule& rule) {
  const auto units = TRY(units_of(transcript, seconds, window));
  if (units.empty()) return fail(Fault::corrupt, "its text is missing");
  TRY(check_order(units, window));
  return Cutter(units, seconds, window, rule).run();
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
