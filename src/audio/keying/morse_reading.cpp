#include "audio/keying/morse_reading.h"

#include <algorithm>
#include <cmath>

#include "audio/keying/keying_path.h"
#include "audio/keying/sent_text.h"
#include "audio/tone_filter.h"
#include "audio/tone_phase.h"
#include "base/order_statistics.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr auto kPerToneSample = static_cast<std::size_t>(kModelRate.value / kToneRate);
constexpr std::size_t kBlock = 96;  // samples of kToneRate: 48 ms, about a dot of 25 words a minute

/// Follows slowly, by parts of 10 ms.
std::vector<ToneSample> smoothed(const std::vector<ToneSample>& values, double width) {
  constexpr std::size_t kThin = 20;
  std::vector<ToneSample> slow((values.size() + kThin - 1) / kThin);
  for (std::size_t i = 0; i < values.size(); ++i) slow[i / kThin] += values[i] / static_cast<float>(kThin);
  slow = low_passed(slow, width, kToneRate / kThin);
  std::vector<double> re, im;
  for (const ToneSample& value : slow) {
    re.push_back(value.real());
    im.push_back(value.imag());
  }
  re = between(re, kThin / 2.0, kThin, values.size());
  im = between(im, kThin / 2.0, kThin, values.size());
  std::vector<ToneSample> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = {static_cast<float>(re[i]), static_cast<float>(im[i])};
  return out;
}

/// The path with its frames turned into samples of kToneRate.
struct Reading {
  KeyingPath path{};
  double wpm = 0;
  double spacing = 1;
  bool is_certain = false;  // a path with symbols, then

  double unit() const { return 1.2 / std::max(wpm, 1.0) * kToneRate; }
};

class Reader {
 public:
  explicit Reader(std::vector<ToneSample> carrier) : carrier_(std::move(carrier)), tone_(carrier_) {
    // Noise: what is not in phase with the carrier, in blocks that nothing beside the tone passes.
    std::vector<float> blocks;
    for (std::size_t at = 0; at + kBlock <= tone_.size(); at += kBlock) {
      float sum = 0;
      for (std::size_t i = at; i < at + kBlock; ++i) sum += tone_[i].imag();
      blocks.push_back(std::abs(sum));
    }
    constexpr double kQuartile = 0.6745;  // of a normal distribution, in deviations
    if (!blocks.empty()) noise_ = std::pow(quantile(blocks, 0.5) / kQuartile, 2) / kBlock;
    constexpr double kWidth = 0.4;  // Hz
    constexpr float kDuty = 0.45F;  // share of time that the key is down
    levels_.resize(tone_.size());
    std::vector<ToneSample> parts(tone_.size());
    for (std::size_t i = 0; i < tone_.size(); ++i) parts[i] = tone_[i].real();
    const auto slow = smoothed(parts, kWidth);
    for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i] = std::max(slow[i].real(), 0.0F) / kDuty;
    constexpr double kLeastNoise = 1e-6;  // of the tone's power: between marks may be digital silence
    noise_ = std::max(noise_, kLeastNoise * power());
  }

  Reading read() {
    constexpr double kSlowest = 4.54, kFastest = 50, kStep = 1.12;  // words a minute
    constexpr double kAnySpread = 0.15;
    constexpr float kLeastScore = 150;  // noise alone had 137 at most (2026-11-30)
    constexpr float kLeastRough = 112;  // what had 150 in the end had 153 here at least
    if (!(noise_ > 0)) return {};
    Reading rough;
    for (double wpm = kSlowest; wpm < kFastest; wpm *= kStep)
      for (const double spacing : {1.0, 2.0})
        keep_better(rough, path_at(wpm, kAnySpread, {.spacing = spacing, .has_context = false}), wpm, spacing);
    if (rough.path.score < kLeastRough) return rough;  // a search with context takes long in noise
    // A soft tone is taken as steady: what its level seems to do is mostly noise. That of a loud one is followed.
    constexpr double kLoud = -1.5;  // dB in 500 Hz
    const bool is_loud = decibels() > kLoud;
    const double width = is_loud ? 1.0 : 0.3;
    double spread = is_loud ? 0.2 : 0.05;
    Reading better = rough;
    for (const double step : {0.03, 0.015}) {
      follow(better.path, width);
      const Reading before = better;
      better.path = {};
      for (const double share : {1 - step, 1.0, 1 + step}) {
        const double wpm = before.wpm * share;
        keep_better(better, path_at(wpm, spread, {.spacing = before.spacing}), wpm, before.spacing);
      }
      if (is_loud) spread = spread_of(better.path);
    }
    better.path = path_at(better.wpm, spread, {.spacing = better.spacing, .has_logprobs = true});
    constexpr double kMostRest = 0.08;  // keyed tones had 0.065 at most, speech 0.12 and steady carriers 0.14 at least
    better.is_certain = better.path.score >= kLeastScore && unexplained(better.path) <= kMostRest;
    return better;
  }

 private:
  static void keep_better(Reading& best, KeyingPath path, double wpm, double spacing) {
    if (path.score > best.path.score) best = {std::move(path), wpm, spacing};
  }

  double power() const {
    double sum = 0;
    for (const float level : levels_) sum += level * level;
    return sum / static_cast<double>(levels_.size());
  }

  /// The tone over its noise in 500 Hz, were its key down all the time.
  double decibels() const { return 10 * std::log10(power() / (4 * noise_) / 500 * kToneRate + 1e-12); }

  /// The likeliest path at a speed, in samples.
  KeyingPath path_at(double wpm, double spread, const PathOptions& options) const {
    constexpr double kOfTone = 0.01;  // of the tone's power: what no path explains, as soft edges
    constexpr double kCoarse = 4, kFine = 6;
    const double per_unit = options.has_context ? kFine : kCoarse;
    const double frame = 1.2 / wpm * kToneRate / per_unit;
    KeyedFrames frames{.per_unit = per_unit,
                       .samples = static_cast<float>(frame),
                       .noise = static_cast<float>(noise_ + kOfTone * power() * kBlock),
                       .spread = static_cast<float>(spread)};
    double sum = 0;
    std::size_t done = 0;
    for (std::size_t i = 0; static_cast<double>(i) * frame < static_cast<double>(tone_.size()); ++i) {
      const auto at = static_cast<std::size_t>(static_cast<double>(i) * frame);
      for (; done < at; ++done) sum += tone_[done].real();
      frames.sums.push_back(static_cast<float>(sum));
      frames.levels.push_back(levels_[at]);
    }
    KeyingPath path = likeliest_path(frames, options);
    const auto sample = [&](std::size_t at) {
      return std::min(static_cast<std::size_t>(static_cast<double>(at) * frame), tone_.size());
    };
    for (PathMark& mark : path.marks) mark = {sample(mark.from), sample(mark.to)};
    for (PathSymbol& symbol : path.symbols) {
      symbol.from = sample(symbol.from);
      symbol.to = sample(symbol.to);
    }
    return path;
  }

  /// Takes level and phase of the tone from the marks of a path.
  void follow(const KeyingPath& path, double width) {
    constexpr float kLeastShare = 0.03F, kNothing = 1e-12F;
    std::vector<ToneSample> marked(carrier_.size()), shares(carrier_.size());
    for (const PathMark& mark : path.marks)
      for (std::size_t i = mark.from; i < mark.to; ++i) {
        marked[i] = carrier_[i];
        shares[i] = 1;
      }
    marked = smoothed(marked, width);
    shares = smoothed(shares, width);
    for (std::size_t i = 0; i < tone_.size(); ++i) {
      const float strength = std::abs(marked[i]);
      levels_[i] = strength / std::max(shares[i].real(), kLeastShare);
      tone_[i] = carrier_[i] * std::conj(marked[i]) / std::max(strength, kNothing);
    }
  }

  /// The standard deviation of the marks' levels, as a share of them, without what noise adds.
  double spread_of(const KeyingPath& path) const {
    constexpr double kLeast = 0.08, kMost = 0.2;
    double sum = 0, all = 0;
    for (const PathMark& mark : path.marks) {
      double on = 0, expected = 0;
      for (std::size_t i = mark.from; i < mark.to; ++i) {
        on += tone_[i].real();
        expected += levels_[i];
      }
      if (!(expected > 0)) continue;
      const auto samples = static_cast<double>(mark.to - mark.from);
      sum += std::pow(on / expected - 1, 2) - noise_ * samples / (expected * expected);
      ++all;
    }
    return std::clamp(std::sqrt(std::max(sum, 0.0) / std::max(all, 1.0)), kLeast, kMost);
  }

  /// How much of the in-phase power, over that of noise, the path leaves, as a share of what it explains.
  double unexplained(const KeyingPath& path) const {
    std::vector<float> keyed(tone_.size());
    for (const PathMark& mark : path.marks)
      for (std::size_t i = mark.from; i < mark.to; ++i) keyed[i] = levels_[i];
    double rest = 0, explained = 0;
    for (std::size_t at = 0; at + kBlock <= tone_.size(); at += kBlock) {
      double off = 0, on = 0;
      for (std::size_t i = at; i < at + kBlock; ++i) {
        off += tone_[i].real() - keyed[i];
        on += keyed[i];
      }
      rest += off * off - noise_ * kBlock;
      explained += on * on;
    }
    return explained > 0 ? rest / explained : 1;
  }

  const std::vector<ToneSample> carrier_;
  std::vector<ToneSample> tone_;  // in phase with its carrier as the newest path has it
  std::vector<float> levels_{};
  double noise_ = 0;  // variance of one in-phase sample
};

/// The middle of the longest gap between marks, of those that are longer than `least` and have their middle within a
/// range.
std::optional<std::size_t> longest_gap(const std::vector<PathMark>& marks, double least, std::size_t from,
                                       std::size_t to) {
  std::optional<std::size_t> longest;
  for (std::size_t i = 1; i < marks.size(); ++i) {
    const auto gap = static_cast<double>(marks[i].from - marks[i - 1].to);
    const std::size_t middle = (marks[i].from + marks[i - 1].to) / 2;
    if (gap <= least || middle < from || middle >= to) continue;
    least = gap;
    longest = middle;
  }
  return longest;
}

/// The beginning of a tone, up to a sample of kToneRate.
struct ReadPart {
  Reading reading{};
  std::size_t end = 0;
};

/// Whether it may be one hand's. The scores of parts do not compare, for each has its own noise.
bool is_alike(const Reading& one, const Reading& other) {
  constexpr double kSame = 0.08;  // of the speed
  return one.spacing == other.spacing && std::abs(one.wpm / other.wpm - 1) < kSame;
}

/// Reads a tone as one station's, and where it pauses for longer than between words also as that of two: another may
/// answer there. Where all have one hand, the whole counts, and the first alone if nothing else is certain.
ReadPart read_stations(const std::vector<ToneSample>& carrier) {
  constexpr double kPause = 9;  // units
  ReadPart whole{Reader(carrier).read(), carrier.size()};
  const auto pause = longest_gap(whole.reading.path.marks, kPause * whole.reading.unit(), 0, carrier.size());
  if (!pause) return whole;
  const auto middle = carrier.begin() + static_cast<std::ptrdiff_t>(*pause);
  ReadPart first{Reader({carrier.begin(), middle}).read(), *pause};
  if (!first.reading.is_certain) return whole;
  const Reading second = Reader({middle, carrier.end()}).read();
  if (!second.is_certain) return whole.reading.is_certain ? whole : first;
  if (whole.reading.is_certain && is_alike(first.reading, second) && is_alike(first.reading, whole.reading))
    return whole;
  KeyingPath& path = first.reading.path;
  path.symbols.push_back({0, path.symbols.back().to, path.symbols.back().to, 0});
  for (const PathSymbol& symbol : second.path.symbols)
    path.symbols.push_back({symbol.symbol, symbol.from + *pause, symbol.to + *pause, symbol.logprob});
  for (const PathMark& mark : second.path.marks) path.marks.push_back({mark.from + *pause, mark.to + *pause});
  first.end = carrier.size();
  return first;
}

/// Ends a part before the first stretch without marks that has a tone of its own: that of another station, whose pitch
/// was not followed. The first one's marks may be behind that.
void end_before_other(ReadPart& part, std::span<const std::int16_t> pcm, std::optional<double> target) {
  constexpr double kLeast = 2.5, kWordGaps = 1.5;  // seconds; of the gap between words
  const Reading& reading = part.reading;
  const double least = std::max(kLeast * kToneRate, kWordGaps * 7 * reading.spacing * reading.unit());
  const auto& marks = reading.path.marks;
  for (std::size_t i = 0; i <= marks.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : marks[i - 1].to, to = i == marks.size() ? part.end : marks[i].from;
    if (static_cast<double>(to - from) < least) continue;
    const auto stretch = pcm.first(std::min(to * kPerToneSample, pcm.size())).subspan(from * kPerToneSample);
    ReadPart other = read_stations(carrier_in_phase(stretch, target));
    if (!other.reading.is_certain) continue;
    if (i == 0) {
      other.end = std::min(other.end, (other.reading.path.marks.back().to + to) / 2);
      part = std::move(other);
      return;
    }
    part.end = from + other.reading.path.marks.front().from / 2;
    auto& symbols = part.reading.path.symbols;
    while (symbols.back().to > from || symbols.back().symbol == 0) symbols.pop_back();
    return;
  }
}

MorseReading morse_of(const KeyingPath& path) {
  MorseReading symbols;
  for (const PathSymbol& symbol : path.symbols)
    symbols.push_back({sent_symbols()[symbol.symbol].text, static_cast<double>(symbol.from) / kToneRate,
                       static_cast<double>(symbol.to) / kToneRate, symbol.logprob});
  return symbols;
}

std::int64_t samples_of(std::size_t at) {
  return static_cast<std::int64_t>(at * kPerToneSample);
}

}  // namespace

KeyedPart read_keyed_part(std::span<const std::int16_t> pcm, std::int64_t most, std::optional<double> target) {
  const auto carrier = carrier_in_phase(pcm, target);
  const std::int64_t all = std::ssize(pcm);
  if (carrier.empty()) return {.samples = all, .morse = MorseReading()};
  ReadPart part = read_stations(carrier);
  if (part.reading.is_certain) {
    end_before_other(part, pcm, target);
    return {part.end < carrier.size() ? samples_of(part.end) : all, morse_of(part.reading.path)};
  }
  if (all <= most) return {.samples = all};
  const auto last = static_cast<std::size_t>(most) / kPerToneSample;
  const auto pause = longest_gap(part.reading.path.marks, 0, last / 2, last);
  const std::int64_t end = pause ? samples_of(*pause) : most;
  return read_keyed_part(pcm.first(static_cast<std::size_t>(end)), end, target);
}

}  // namespace tutti
