#include "audio/tone_filter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

#include "audio/mel/frame_fourier.h"
#include "audio/mel/mel_frames.h"
#include "audio/tone_phase.h"
#include "base/order_statistics.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kRate = kModelRate.value;
constexpr std::size_t kStep = 8;  // samples for one of the low rate
constexpr double kLowRate = kToneRate;
static_assert(kRate / kStep == kLowRate);
constexpr std::size_t kSize = 1024;  // of all transforms
constexpr std::size_t kBins = kSize / 2 + 1;
constexpr std::size_t kAtOnce = FrameFourier::kFrames;
constexpr std::size_t kLeast = 800;  // samples

/// What the tone is put at.
struct Copy {
  double width;  // Hz to either side, where it is down to half
  int pitch;     // Hz, in hundreds
  float loudness;
  bool is_in_phase = false;  // with its carrier; else of any phase
};
constexpr std::array kCopies{Copy{60, 6, 0.2F},         Copy{25, 10, 0.06F},  Copy{12, 13, 0.06F},
                             Copy{25, 16, 0.04F, true}, Copy{250, 22, 0.06F}, Copy{12, 29, 0.04F, true}};
constexpr double kLevelWidth = 25;  // Hz: of what the level is measured by
constexpr double kTargetLevelWidth = 15;
constexpr float kMostOver = 2.5F;  // times the level: crashes and clicks are cut there

/// Narrower where a station was named: the next one may be 40 Hz away, and louder.
double width_of(const Copy& copy, bool has_target) {
  constexpr double kShowsBeside = 100, kWide = 40, kWideOfTarget = 25, kOfTarget = 20;
  if (!has_target || copy.width > kShowsBeside) return copy.width;
  return copy.width > kWide ? kWideOfTarget : std::min(copy.width, kOfTarget);
}

struct Tables {
  std::vector<float> bell = hann_window(kSize, kSize);
  FrameFourier fourier{static_cast<int>(kSize)};
};

const Tables& tables() {
  static const Tables made;
  return made;
}

/// Frames of any source through the transform, sixteen at a time. `sample(frame, i)`: what a frame has; `take(frame,
/// re, im, lane)`: its bins, kAtOnce values apart.
template <class Sample, class Take>
void transformed(std::size_t frames, Sample&& sample, Take&& take) {
  const Tables& made = tables();
  std::vector<float> in(kSize * kAtOnce), re(kBins * kAtOnce), im(kBins * kAtOnce);
  for (std::size_t first = 0; first < frames; first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, frames - first);
    for (std::size_t i = 0; i < kSize; ++i)
      for (std::size_t lane = 0; lane < kAtOnce; ++lane)
        in[i * kAtOnce + lane] = lane < count ? made.bell[i] * sample(first + lane, i) : 0;
    made.fourier.forward(in.data(), re.data(), im.data());
    for (std::size_t lane = 0; lane < count; ++lane) take(first + lane, re.data() + lane, im.data() + lane);
  }
}

constexpr std::size_t kFirstBin = 16, kLastBin = 90;  // of 15.625 Hz: 250 to 1406 Hz

/// The line's bin that comes and goes and is farthest over what is beside it.
std::size_t coarse_tone(std::span<const std::int16_t> pcm) {
  constexpr std::size_t kHop = 256, kNone = 4, kFar = 9;  // bins beside that have none of a tone, and the last of them
  constexpr std::size_t kAll = kLastBin - kFirstBin + 1 + 2 * kFar, kLow = kFirstBin - kFar;
  constexpr float kApart = 3, kSteady = 0.01F;
  const std::size_t frames = pcm.size() < kSize ? 1 : (pcm.size() - kSize) / kHop + 1;
  std::vector<std::vector<float>> powers(kAll, std::vector<float>(frames));
  transformed(
      frames,
      [&](std::size_t frame, std::size_t i) {
        const std::size_t at = frame * kHop + i;
        return at < pcm.size() ? static_cast<float>(pcm[at]) : 0.0F;
      },
      [&](std::size_t frame, const float* re, const float* im) {
        for (std::size_t bin = 0; bin < kAll; ++bin) {
          const std::size_t at = (kLow + bin) * kAtOnce;
          powers[bin][frame] = re[at] * re[at] + im[at] * im[at];
        }
      });
  std::vector<double> means;
  for (const auto& power : powers) {
    double sum = 0;
    for (const float value : power) sum += value;
    means.push_back(sum / static_cast<double>(frames));
  }
  std::size_t best = kFirstBin;
  double most = -1;
  for (std::size_t bin = kFar; bin < kAll - kFar; ++bin) {
    std::vector<float> beside;
    for (std::size_t away = kNone; away <= kFar; ++away) {
      beside.push_back(static_cast<float>(means[bin - away]));
      beside.push_back(static_cast<float>(means[bin + away]));
    }
    std::ranges::sort(beside);
    const double over = means[bin] - (beside[beside.size() / 2 - 1] + beside[beside.size() / 2]) / 2;
    const float high = quantile(powers[bin], 0.9), low = quantile(powers[bin], 0.2);
    if (const double score = high > kApart * low ? over : over * kSteady; score > most) {
      most = score;
      best = kLow + bin;
    }
  }
  return best;
}

/// The tone of a bin mixed down to nothing, at the low rate.
std::vector<ToneSample> mixed_down(std::span<const std::int16_t> pcm, std::size_t bin) {
  constexpr std::ptrdiff_t kReach = 48;
  constexpr double kPass = 800;                  // Hz
  std::array<float, 2 * kReach + kStep> taps{};  // the last ones are none
  double sum = 0;
  for (std::ptrdiff_t i = -kReach; i <= kReach; ++i) {
    const double x = 2 * kPass / kRate * static_cast<double>(i) * std::numbers::pi;
    const double bell = 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(i) / (kReach + 1));
    taps[static_cast<std::size_t>(i + kReach)] = static_cast<float>((i == 0 ? 1 : std::sin(x) / x) * bell);
    sum += taps[static_cast<std::size_t>(i + kReach)];
  }
  std::array<float, kSize> re{}, im{};  // a turn of the tone takes a whole number of these
  for (std::size_t i = 0; i < kSize; ++i) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(i * bin % kSize) / kSize;
    re[i] = static_cast<float>(std::cos(angle) / (32768 * sum));
    im[i] = static_cast<float>(std::sin(angle) / (32768 * sum));
  }
  const std::size_t size = pcm.size();
  std::vector<float> mixed_re(size + 2 * kReach + kStep), mixed_im(size + 2 * kReach + kStep);
  for (std::size_t i = 0; i < size; ++i) {
    mixed_re[i + kReach] = static_cast<float>(pcm[i]) * re[i % kSize];
    mixed_im[i + kReach] = static_cast<float>(pcm[i]) * im[i % kSize];
  }
  std::vector<ToneSample> base((size + kStep - 1) / kStep);
  for (std::size_t i = 0; i < base.size(); ++i) {
    // Eight sums side by side, which the compiler computes together.
    std::array<float, kStep> re_sums{}, im_sums{};
    for (std::size_t tap = 0; tap < taps.size(); tap += kStep)
      for (std::size_t lane = 0; lane < kStep; ++lane) {
        re_sums[lane] += taps[tap + lane] * mixed_re[i * kStep + tap + lane];
        im_sums[lane] += taps[tap + lane] * mixed_im[i * kStep + tap + lane];
      }
    float sum_re = 0, sum_im = 0;
    for (std::size_t lane = 0; lane < kStep; ++lane) {
      sum_re += re_sums[lane];
      sum_im += im_sums[lane];
    }
    base[i] = {sum_re, sum_im};
  }
  return base;
}

constexpr std::size_t kPathHop = 500;  // of the low rate: 0.25 s
constexpr std::size_t kPathBins = 77;  // of 1.95 Hz, to either side

/// Frequencies about nothing among which the line is looked for: bins of 2 * kPathBins + 1.
struct Reach {
  std::size_t first = 0, last = 2 * kPathBins;
};

/// Those near the station that was named: the next one may be 40 Hz away, and louder.
Reach reach_about(double hertz) {
  constexpr double kNear = 20;  // Hz
  const auto bin_of = [](double at) {
    return static_cast<std::size_t>(std::clamp(std::round(at * kSize / kLowRate) + kPathBins, 0.0, 2.0 * kPathBins));
  };
  return {bin_of(hertz - kNear), bin_of(hertz + kNear)};
}

/// The power at each frequency about nothing, by quarter of a second.
std::vector<std::vector<float>> line_powers(const std::vector<ToneSample>& base) {
  const std::size_t frames = base.size() / kPathHop + 1, wide = 2 * kPathBins + 1;
  const auto sample = [&](std::size_t frame, std::size_t i) {
    const std::size_t at = frame * kPathHop + i;
    return at < kSize / 2 || at - kSize / 2 >= base.size() ? ToneSample() : base[at - kSize / 2];
  };
  // The transform of a complex signal from those of its two real parts.
  std::vector<std::vector<ToneSample>> of_re(frames, std::vector<ToneSample>(kPathBins + 1));
  std::vector<std::vector<float>> powers(frames, std::vector<float>(wide));
  transformed(
      frames, [&](std::size_t frame, std::size_t i) { return sample(frame, i).real(); },
      [&](std::size_t frame, const float* re, const float* im) {
        for (std::size_t bin = 0; bin <= kPathBins; ++bin) of_re[frame][bin] = {re[bin * kAtOnce], im[bin * kAtOnce]};
      });
  transformed(
      frames, [&](std::size_t frame, std::size_t i) { return sample(frame, i).imag(); },
      [&](std::size_t frame, const float* re, const float* im) {
        for (std::size_t bin = 0; bin <= kPathBins; ++bin) {
          const ToneSample a = of_re[frame][bin];
          const ToneSample b{-im[bin * kAtOnce], re[bin * kAtOnce]};  // times i
          powers[frame][kPathBins + bin] = std::norm(a + b);
          powers[frame][kPathBins - bin] = std::norm(a - b);  // of a negative frequency, its conjugate
        }
      });
  return powers;
}

/// Whether a line stands out among those of a reach: what is beside it, on both sides, is softer. What a louder station
/// beside the reach spreads into it becomes ever louder towards that one.
bool has_line(const std::vector<std::vector<float>>& powers, const Reach& reach) {
  constexpr std::size_t kSmooth = 4, kBeside = 15;  // bins to either side: 8 and 29 Hz
  constexpr double kDip = 0.5;
  std::vector<double> means(2 * kPathBins + 1), smooth(means.size());
  for (const auto& row : powers)
    for (std::size_t bin = 0; bin < means.size(); ++bin) means[bin] += row[bin];
  for (std::size_t bin = 0; bin < means.size(); ++bin) {
    const std::size_t from = bin - std::min(bin, kSmooth), to = std::min(bin + kSmooth + 1, means.size());
    for (std::size_t i = from; i < to; ++i) smooth[bin] += means[i] / static_cast<double>(to - from);
  }
  const auto at = [&](std::size_t bin) { return smooth.begin() + static_cast<std::ptrdiff_t>(bin); };
  const auto peak = std::max_element(at(reach.first), at(reach.last + 1));
  const auto bin = static_cast<std::size_t>(peak - smooth.begin());
  const auto below = std::min_element(at(bin - std::min(bin, kBeside)), peak + 1);
  const auto above = std::min_element(peak, at(std::min(bin + kBeside + 1, smooth.size())));
  return *below < kDip * *peak && *above < kDip * *peak;
}

/// How likely each frequency of a reach is, by quarter of a second: logarithms.
std::vector<std::vector<float>> line_scores(std::vector<std::vector<float>> powers, const Reach& reach) {
  constexpr float kOfLoudest = 0.03F, kNothing = 1e-20F;
  std::vector<float> all, tops;
  for (auto& row : powers) {
    all.insert(all.end(), row.begin(), row.end());
    std::fill(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(reach.first), 0.0F);
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(reach.last) + 1, row.end(), 0.0F);
    tops.push_back(*std::ranges::max_element(row));
  }
  const float floor = std::max({quantile(all, 0.5), kOfLoudest * quantile(tops, 0.9), kNothing});
  for (auto& row : powers)
    for (float& value : row) value = std::log(value / floor + 1);
  return powers;
}

/// The frequency about nothing, by quarter of a second, in Hz: the likeliest path, which moves slowly or, seldom,
/// jumps.
std::vector<double> likeliest_path(const std::vector<std::vector<float>>& scores) {
  constexpr float kJump = 20, kMove = 0.5F;  // 10 went to another station in the second behind the last mark
  constexpr std::size_t kMost = 3;           // bins
  const std::size_t wide = scores.front().size();
  std::vector<float> best = scores.front();
  std::vector<std::vector<std::size_t>> from;
  for (std::size_t frame = 1; frame < scores.size(); ++frame) {
    const auto top = static_cast<std::size_t>(std::ranges::max_element(best) - best.begin());
    std::vector<float> next(wide);
    auto& origins = from.emplace_back(wide);
    for (std::size_t bin = 0; bin < wide; ++bin) {
      float most = best[top] - kJump;
      std::size_t origin = top;
      for (std::size_t other = bin - std::min(bin, kMost); other <= std::min(bin + kMost, wide - 1); ++other) {
        const auto moved = static_cast<float>(other > bin ? other - bin : bin - other);
        if (const float value = best[other] - kMove * moved; value >= most) {
          most = value;
          origin = other;
        }
      }
      next[bin] = most + scores[frame][bin];
      origins[bin] = origin;
    }
    best = std::move(next);
  }
  auto at = static_cast<std::size_t>(std::ranges::max_element(best) - best.begin());
  std::vector<double> path(scores.size());
  for (std::size_t frame = scores.size(); frame-- > 0;) {
    path[frame] = (static_cast<double>(at) - kPathBins) * kLowRate / kSize;
    if (frame > 0) at = from[frame - 1][at];
  }
  return path;
}

/// Mixes what is left of the tone's frequency down, too. False: none stands out among those near a named one.
bool mix_down_rest(std::vector<ToneSample>& base, const Reach& reach) {
  auto powers = line_powers(base);
  const bool is_named = reach.last - reach.first < 2 * kPathBins;
  if (is_named && !has_line(powers, reach)) return false;
  const auto path = likeliest_path(line_scores(std::move(powers), reach));
  std::vector<double> smooth;
  for (std::size_t i = 0; i < path.size(); ++i)
    smooth.push_back((path[i - std::min<std::size_t>(i, 1)] + path[i] + path[std::min(i + 1, path.size() - 1)]) / 3);
  const auto hertz = between(smooth, 0, kPathHop, base.size());
  double turns = 0;
  for (std::size_t i = 0; i < base.size(); ++i) {
    turns += hertz[i] / kLowRate;
    turns -= std::floor(turns);
    const double angle = -2 * std::numbers::pi * turns;
    base[i] *= ToneSample(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
  }
  return true;
}

/// The in-phase part of a tone whose key-down is about 1, without a sign: what points the other way is noise, and the
/// farther it does, the softer it becomes.
ToneSample without_sign(ToneSample tone) {
  constexpr float kBend = 0.25F;
  return (tone.real() + std::hypot(tone.real(), kBend)) / 2;
}

/// How strong the tone is about each sample where its key is down.
std::vector<double> key_down_levels(const std::vector<ToneSample>& tone) {
  constexpr std::size_t kThin = 10, kPart = 20, kReach = 15;  // parts of 0.1 s
  constexpr float kOfLoudest = 0.1F, kQuietest = 1e-5F;
  std::vector<float> thin;
  for (std::size_t i = 0; i < tone.size(); i += kThin) thin.push_back(std::abs(tone[i]));
  auto all = thin;
  const float least = std::max(kOfLoudest * quantile(all, 0.97), kQuietest);
  std::vector<double> coarse;
  for (std::size_t part = 0; part * kPart < thin.size(); ++part) {
    const auto from = thin.begin() + static_cast<std::ptrdiff_t>((part - std::min(part, kReach)) * kPart);
    const auto to = thin.begin() + static_cast<std::ptrdiff_t>(std::min((part + kReach + 1) * kPart, thin.size()));
    std::vector<float> near(from, to);
    coarse.push_back(std::max(quantile(near, 0.95), least));
  }
  return between(coarse, kThin * kPart / 2.0, kThin * kPart, tone.size());
}

/// Adds `part` at a pitch; its samples stand kStep apart.
void put_at(const std::vector<ToneSample>& part, int pitch, float loudness, std::vector<float>& out) {
  constexpr std::size_t kTurn = 160;  // samples of 100 Hz
  std::array<ToneSample, kTurn> turns{};
  for (std::size_t i = 0; i < kTurn; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / kTurn;
    turns[i] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    const ToneSample left = part[i / kStep], right = part[std::min(i / kStep + 1, part.size() - 1)];
    const ToneSample here = left + (right - left) * (static_cast<float>(i % kStep) / kStep);
    const ToneSample turn = turns[i * static_cast<std::size_t>(pitch) % kTurn];
    out[i] += loudness * (here.real() * turn.real() - here.imag() * turn.imag());
  }
}

/// The tone of a window mixed down to nothing; empty where there is none.
std::vector<ToneSample> followed_tone(std::span<const std::int16_t> pcm, std::optional<double> target) {
  const bool is_silent = std::ranges::all_of(pcm, [](std::int16_t sample) { return sample == 0; });
  if (pcm.size() < kLeast || is_silent) return {};
  constexpr double kBin = kRate / kSize;
  const auto bin = target ? static_cast<std::size_t>(std::lround(*target / kBin)) : coarse_tone(pcm);
  auto base = mixed_down(pcm, bin);
  if (!mix_down_rest(base, target ? reach_about(*target - static_cast<double>(bin) * kBin) : Reach())) base.clear();
  return base;
}

}  // namespace

std::vector<ToneSample> carrier_in_phase(std::span<const std::int16_t> pcm, std::optional<double> target) {
  const auto base = followed_tone(pcm, target);
  return base.empty() ? base : in_phase(base);
}

std::vector<std::int16_t> keyed_tone(std::span<const std::int16_t> pcm, std::optional<double> target) {
  const auto base = followed_tone(pcm, target);
  if (base.empty()) return std::vector<std::int16_t>(pcm.size());
  const auto levels = key_down_levels(low_passed(base, target ? kTargetLevelWidth : kLevelWidth, kLowRate));
  const auto turned = in_phase(base);
  std::vector<float> sum(pcm.size());
  for (const Copy& copy : kCopies) {
    auto part = low_passed(copy.is_in_phase ? turned : base, width_of(copy, target.has_value()), kLowRate);
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] /= static_cast<float>(levels[i]);
      if (copy.is_in_phase) part[i] = without_sign(part[i]);
      part[i] /= std::max(std::abs(part[i]) / kMostOver, 1.0F);
    }
    put_at(part, copy.pitch, copy.loudness, sum);
  }
  std::vector<std::int16_t> out;
  out.reserve(sum.size());
  for (const float value : sum)
    out.push_back(static_cast<std::int16_t>(std::lround(std::clamp(value, -1.0F, 1.0F) * 32767)));
  return out;
}

}  // namespace tutti
