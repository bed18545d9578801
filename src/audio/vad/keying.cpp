#include "audio/vad/keying.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>

#include "base/order_statistics.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr std::size_t kHop = kVadWindow / 2;  // samples: 16 ms
constexpr double kHopSeconds = static_cast<double>(kHop) / kModelRate.value;
constexpr std::size_t kTones = 40;                 // 31.25 Hz apart ...
constexpr std::size_t kFirstTone = 7;              // ... from 219 to 1438 Hz
constexpr std::size_t kBehind = 320, kAhead = 96;  // hops that a decision looks at: 5.1 and 1.5 s
constexpr std::size_t kAtOnce = 16;                // hops that are decided together
constexpr std::size_t kSmooth = 5;                 // hops: 80 ms, over which a tone's contrast is measured
constexpr double kSoftness = 2;                    // dB for which the odds grow e-fold
constexpr float kUp = 0.02F;                       // probability where nothing is keyed
constexpr double kLongestGap = 1.2;                // seconds: what decisions look ahead

constexpr std::size_t kNarrow = 2 * kVadWindow;  // samples that tell a station from one 40 Hz away

using Table = std::array<std::array<float, kVadWindow>, kTones>;

struct Fourier {
  Table re{}, im{};
};

// On the heap: of a plain object the compiler would make constants, 160 KB in every program.
const Fourier& fourier() {
  static const std::unique_ptr<const Fourier> made = [] {
    auto it = std::make_unique<Fourier>();
    for (std::size_t tone = 0; tone < kTones; ++tone)
      for (std::size_t i = 0; i < kVadWindow; ++i) {
        const double share = 2 * std::numbers::pi * static_cast<double>(i) / kVadWindow;
        const double bell = 0.5 - 0.5 * std::cos(share), angle = share * static_cast<double>(kFirstTone + tone);
        it->re[tone][i] = static_cast<float>(bell * std::cos(angle));
        it->im[tone][i] = static_cast<float>(bell * std::sin(angle));
      }
    return it;
  }();
  return *made;
}

double decibels(double power) {
  return 10 * std::log10(power + 1);  // over the least bit, as loudness has it
}

/// Each value and those about it, their mean.
std::vector<double> smoothed(const std::vector<double>& values, std::size_t width) {
  std::vector<double> out(values.size());
  const std::size_t half = width / 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t from = i - std::min(i, half), to = std::min(i + half + 1, values.size());
    double sum = 0;
    for (std::size_t j = from; j < to; ++j) sum += values[j];
    out[i] = sum / static_cast<double>(to - from);
  }
  return out;
}

/// A tone within some hops.
struct KeyedTone {
  std::vector<double> powers{};
  double down = 0;      // dB, of its loudest: where its key is down
  double contrast = 0;  // dB from there to where it is up
  double line = 0;      // dB of its mean over its neighbours'

  /// Noise alone has gaps within characters.
  bool is_weak() const { return contrast < 11; }
  /// Above 0: rather keyed than not. A steady tone is over its neighbours without any contrast.
  double evidence() const {
    constexpr double kContrast = 8, kLine = 1.6, kLineWeight = 4, kSteady = 4.5;
    const double of_line = contrast > kSteady ? kLineWeight * (line - kLine) : -kContrast;
    return std::max(contrast - kContrast, of_line);
  }
};

KeyedTone tone_of(const std::deque<std::vector<float>>& hops, std::size_t number) {
  KeyedTone tone;
  for (const auto& hop : hops) tone.powers.push_back(hop[number]);
  auto sorted = smoothed(tone.powers, kSmooth);
  tone.down = decibels(quantile(sorted, 0.95));
  tone.contrast = tone.down - decibels(quantile(sorted, 0.15));
  return tone;
}

/// Of each tone.
std::vector<double> means_of(const std::deque<std::vector<float>>& hops) {
  std::vector<double> means(kTones);
  for (const auto& hop : hops)
    for (std::size_t i = 0; i < kTones; ++i) means[i] += hop[i];
  for (double& mean : means) mean = decibels(mean / static_cast<double>(hops.size()));
  return means;
}

/// How far a tone is over the median of those beside it that have none of it.
double line_of(const std::vector<double>& means, std::size_t number) {
  constexpr std::size_t kNone = 3, kFar = 7;
  std::vector<double> beside;
  for (std::size_t away = kNone; away <= kFar; ++away) {
    if (number >= away) beside.push_back(means[number - away]);
    if (number + away < means.size()) beside.push_back(means[number + away]);
  }
  return means[number] - quantile(beside, 0.5);
}

/// The tone of that number alone, with its line.
KeyedTone named_tone(const std::deque<std::vector<float>>& hops, const std::vector<double>& means, std::size_t number) {
  constexpr double kClearLine = 15;  // dB
  KeyedTone tone = tone_of(hops, number);
  tone.line = line_of(means, number);
  if (tone.line > kClearLine) {  // the short gaps of fast figures show where nothing is smoothed
    auto sorted = tone.powers;
    tone.contrast = std::max(tone.contrast, tone.down - decibels(quantile(sorted, 0.15)));
  }
  return tone;
}

/// The loudest of those that are rather keyed than not, else the one that is most likely to be.
KeyedTone loudest_keyed(const std::deque<std::vector<float>>& hops) {
  const auto means = means_of(hops);
  KeyedTone best;
  for (std::size_t number = 0; number < kTones; ++number) {
    KeyedTone tone = named_tone(hops, means, number);
    const bool both = tone.evidence() > 0 && best.evidence() > 0;
    const bool is_better = both ? tone.down > best.down : tone.evidence() > best.evidence();
    if (best.powers.empty() || is_better) best = std::move(tone);
  }
  return best;
}

/// dB of the tone at each hop, over a few hops where it is not clear.
std::vector<double> levels_of(const KeyedTone& tone) {
  constexpr double kClear = 20;  // dB
  std::vector<double> levels;
  for (const double power : smoothed(tone.powers, tone.is_weak() ? kSmooth : tone.contrast < kClear ? 3 : 1))
    levels.push_back(decibels(power));
  return levels;
}

/// Whether the key is down at each hop: the tone is over its key-up by a share of what it is over it at its loudest,
/// and not far under what it was just before and is just after, because what is loud has wide edges.
std::vector<bool> downs_of(const KeyedTone& tone, const std::vector<double>& levels) {
  constexpr double kShare = 0.4, kLeast = 5, kUnderMarks = 8;  // dB
  constexpr std::size_t kNear = 20;                            // hops
  auto sorted = levels;
  const double up = quantile(sorted, 0.2);
  const double threshold = up + std::max(kLeast, kShare * (tone.down - up));
  std::vector<bool> downs;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto from = levels.begin() + static_cast<std::ptrdiff_t>(i - std::min(i, kNear));
    const auto to = levels.begin() + static_cast<std::ptrdiff_t>(std::min(i + kNear + 1, levels.size()));
    downs.push_back(levels[i] > std::max(threshold, *std::max_element(from, to) - kUnderMarks));
  }
  return downs;
}

/// Hops in a row that are alike.
struct Run {
  std::size_t start = 0, end = 0;
  bool is_down = false;
  double seconds() const { return static_cast<double>(end - start) * kHopSeconds; }
};

std::vector<Run> runs_of(const std::vector<bool>& downs) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < downs.size(); ++i) {
    if (runs.empty() || runs.back().is_down != downs[i]) runs.push_back({i, i, downs[i]});
    runs.back().end = i + 1;
  }
  return runs;
}

/// Takes one mark or two away that have no other within `longest` seconds and are far under the tone: peaks of noise,
/// of which a model would make words. One character alone is as loud as what was keyed before it.
void remove_lone_peaks(std::vector<bool>& downs, const std::vector<double>& levels, const KeyedTone& tone,
                       double longest) {
  constexpr double kFarUnder = 7;  // dB
  constexpr std::size_t kMarks = 2;
  std::vector<Run> marks;
  for (const Run& run : runs_of(downs))
    if (run.is_down) marks.push_back(run);
  const auto at = [](auto begin, std::size_t hop) { return begin + static_cast<std::ptrdiff_t>(hop); };
  for (std::size_t first = 0, next = 1; first < marks.size(); first = next++) {
    while (next < marks.size() && Run{marks[next - 1].end, marks[next].start}.seconds() < longest) ++next;
    const std::size_t from = marks[first].start, to = marks[next - 1].end;
    if (next - first > kMarks ||
        *std::max_element(at(levels.begin(), from), at(levels.begin(), to)) >= tone.down - kFarUnder)
      continue;
    std::fill(at(downs.begin(), from), at(downs.begin(), to), false);
  }
}

/// Whether each hop is within a word.
std::vector<bool> words_of(const KeyedTone& tone) {
  constexpr double kSurely = 0.8;    // seconds: a shorter gap may be a mark that was not found
  constexpr std::size_t kEdge = 15;  // hops: and so may what is beside the first and the last
  const auto levels = levels_of(tone);
  auto downs = downs_of(tone, levels);
  auto runs = runs_of(downs);
  std::vector<double> marks, gaps;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].is_down)
      marks.push_back(runs[i].seconds());
    else if (i > 0 && i + 1 < runs.size())
      gaps.push_back(runs[i].seconds());
  }
  std::vector<bool> within(downs.size(), false);
  if (marks.empty()) return within;
  const double longest = std::max(word_gap(marks, gaps), tone.is_weak() ? kSurely : 0);
  if (!tone.is_weak()) {
    remove_lone_peaks(downs, levels, tone, longest);
    runs = runs_of(downs);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_between = i > 0 && i + 1 < runs.size();
    if (!runs[i].is_down && !(is_between && runs[i].seconds() < longest)) continue;
    const std::size_t edge = tone.is_weak() ? kEdge : 0;
    std::fill(within.begin() + static_cast<std::ptrdiff_t>(runs[i].start - std::min(runs[i].start, edge)),
              within.begin() + static_cast<std::ptrdiff_t>(std::min(runs[i].end + edge, within.size())), true);
  }
  return within;
}

}  // namespace

double word_gap(std::span<const double> marks, std::span<const double> gaps) {
  constexpr double kShortestUnit = 0.02, kUnits = 4.5, kApart = 1.5, kMostOfMedian = 3.5;
  if (gaps.empty()) return kLongestGap;
  std::vector<double> lengths(gaps.begin(), gaps.end());
  const double within_characters = std::max(quantile(lengths, 0.25), kHopSeconds);
  lengths.insert(lengths.end(), marks.begin(), marks.end());
  const double unit = std::max(quantile(lengths, 0.25), kShortestUnit);
  std::vector<double> between;  // characters or words
  for (const double gap : gaps)
    if (gap > 2 * within_characters) between.push_back(gap);
  if (between.empty()) return kLongestGap;
  // What is much longer is a pause, and no measure of words.
  const double most = kMostOfMedian * quantile(between, 0.5);
  for (double& gap : between) gap = std::min(gap, most);
  std::ranges::sort(between);
  double widest = 0, border = 0;
  // At least half of them are between characters.
  for (std::size_t i = std::max<std::size_t>(between.size() / 2, 1); i < between.size(); ++i)
    if (const double apart = between[i] / between[i - 1]; apart > widest) {
      widest = apart;
      border = std::sqrt(between[i] * between[i - 1]);
    }
  // All of one kind: between characters, unless they are longer than such gaps are.
  if (widest < kApart) border = std::max(kUnits * unit, kApart * between.front());
  // A gap within a figure of a fast key may be thrice another one, in hops. What a mark is found too long by, a gap is
  // too short by.
  constexpr double kLeastUnits = 4;
  std::vector<double> all_marks(marks.begin(), marks.end()), all_gaps(gaps.begin(), gaps.end());
  const double shortest = (quantile(all_marks, 0.25) + quantile(all_gaps, 0.25)) / 2;
  return std::min(std::max(border, kLeastUnits * shortest), kLongestGap);
}

void KeyingDetector::measure(std::span<const float> samples) {
  const Fourier& table = fourier();
  constexpr float kScale = 4.0F / kVadWindow;  // the amplitude of a sine
  auto& powers = powers_.emplace_back(kTones);
  for (std::size_t tone = 0; tone < kTones; ++tone) {
    // Eight sums side by side, which the compiler computes together.
    std::array<float, 8> re{}, im{};
    for (std::size_t i = 0; i < kVadWindow; i += 8)
      for (std::size_t lane = 0; lane < 8; ++lane) {
        re[lane] += samples[i + lane] * table.re[tone][i + lane];
        im[lane] += samples[i + lane] * table.im[tone][i + lane];
      }
    float sum_re = 0, sum_im = 0;
    for (std::size_t lane = 0; lane < 8; ++lane) {
      sum_re += re[lane];
      sum_im += im[lane];
    }
    powers[tone] = kScale * kScale * (sum_re * sum_re + sum_im * sum_im);
  }
}

/// The tone that is nearest to the target.
std::size_t KeyingDetector::target_tone() const {
  constexpr double kApart = static_cast<double>(kModelRate.value) / kVadWindow;
  return static_cast<std::size_t>(std::lround(*target_ / kApart)) - kFirstTone;
}

/// Puts the target itself in place of the nearest tone, as far over the noise.
void KeyingDetector::measure_target(std::span<const float> samples) {
  constexpr double kScale = 4.0 / kNarrow, kHalfOfTheNoise = 2;
  double re = 0, im = 0;
  for (std::size_t i = 0; i < kNarrow; ++i) {
    const double turn = 2 * std::numbers::pi * static_cast<double>(i);
    const double value = samples[i] * (0.5 - 0.5 * std::cos(turn / kNarrow));
    re += value * std::cos(turn * *target_ / kModelRate.value);
    im += value * std::sin(turn * *target_ / kModelRate.value);
  }
  powers_.back()[target_tone()] = static_cast<float>(kHalfOfTheNoise * kScale * kScale * (re * re + im * im));
}

/// Of the next `count` hops, in pairs: a window is likely where either of its two is.
void KeyingDetector::decide(std::size_t count, std::vector<float>& found) {
  constexpr std::size_t kPause = 15;              // hops
  constexpr double kFarUnder = 30, kLess = 0.05;  // dB; of a probability
  const KeyedTone tone = target_ ? named_tone(powers_, means_of(powers_), target_tone()) : loudest_keyed(powers_);
  const auto likely = static_cast<float>(1 / (1 + std::exp(-tone.evidence() / kSoftness)));
  const auto within = words_of(tone);
  const auto levels = smoothed(tone.powers, kPause);
  for (std::size_t hop = decided_ - first_; hop < decided_ - first_ + count; hop += 2) {
    // Where words must be cut, the quietest moment is to be the least likely.
    const double under = std::clamp((tone.down - decibels(levels[hop])) / kFarUnder, 0.0, 1.0);
    const float here = likely * static_cast<float>(1 - kLess * under);
    found.push_back(within[hop] || within[hop + 1] ? std::max(here, kUp) : kUp);
  }
  decided_ += count;
  for (; decided_ - first_ > kBehind; ++first_) powers_.pop_front();
}

void KeyingDetector::take(std::span<const std::int16_t> windows, bool last, std::vector<float>& found) {
  std::vector<float> samples = std::move(previous_);
  const std::size_t before = target_ ? kNarrow - kVadWindow : 0;
  if (samples.empty()) samples.resize(before + kHop);  // silence before the first
  samples.insert(samples.end(), windows.begin(), windows.end());
  std::size_t at = 0;
  for (; at + before + kVadWindow <= samples.size(); at += kHop) {
    measure(std::span(samples).subspan(at + before, kVadWindow));
    if (target_) measure_target(std::span(samples).subspan(at, kNarrow));
    const std::size_t measured = first_ + powers_.size();
    if (measured - decided_ == kAtOnce + kAhead) decide(kAtOnce, found);
  }
  previous_.assign(samples.begin() + static_cast<std::ptrdiff_t>(at), samples.end());
  if (!last) return;
  while (first_ + powers_.size() > decided_) decide(std::min(kAtOnce, first_ + powers_.size() - decided_), found);
}

}  // namespace tutti
