#include "audio/synth/band.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/synth/contest.h"
#include "audio/synth/disturbance.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr double kRate = kModelRate.value;
constexpr double kBandWidth = 3000 - 300;  // Hz, to which noise_db refers
constexpr std::int64_t kFadeSamples = 16;  // one value a millisecond
constexpr double kFull = 2 * std::numbers::pi;
constexpr double kChirpSeconds = 0.015;  // in which a chirp falls e-fold

/// A sine by turning a pointer: four samples at a time, so that four turns are in work at once.
class Oscillator {
 public:
  Oscillator(double phase, double step) {
    for (int lane = 0; lane < kLanes; ++lane) {
      re_[lane] = static_cast<float>(std::cos(phase + lane * step));
      im_[lane] = static_cast<float>(std::sin(phase + lane * step));
    }
    turn_re_ = static_cast<float>(std::cos(kLanes * step));
    turn_im_ = static_cast<float>(std::sin(kLanes * step));
  }
  /// Adds to at most kLanes samples.
  void add(std::span<float> audio, float amplitude) {
    for (std::size_t lane = 0; lane < audio.size(); ++lane) audio[lane] += amplitude * im_[lane];
    for (int lane = 0; lane < kLanes; ++lane) {
      const float re = re_[lane];
      re_[lane] = re * turn_re_ - im_[lane] * turn_im_;
      im_[lane] = re * turn_im_ + im_[lane] * turn_re_;
    }
  }
  /// Turned further by so much, for the samples to come.
  void turn(double angle) {
    const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
    for (int lane = 0; lane < kLanes; ++lane) {
      const float re = re_[lane];
      re_[lane] = re * c - im_[lane] * s;
      im_[lane] = re * s + im_[lane] * c;
    }
  }
  static constexpr int kLanes = 4;

 private:
  float re_[kLanes], im_[kLanes];
  float turn_re_ = 1, turn_im_ = 0;
};

/// Amplitudes of the marks' edges: raised cosine, from nothing to all.
std::vector<float> edge_of(double seconds) {
  std::vector<float> rising;
  const auto count = static_cast<int>(seconds * kRate);
  for (int i = 0; i < count; ++i)
    rising.push_back(static_cast<float>(0.5 - 0.5 * std::cos(std::numbers::pi * (i + 0.5) / count)));
  return rising;
}

void add_mark(std::span<float> audio, std::int64_t first, Oscillator oscillator, const Tone& tone,
              std::span<const float> rising, std::span<const float> fades) {
  const std::int64_t size = std::ssize(audio);
  for (std::int64_t at = 0; at < size; at += Oscillator::kLanes) {
    const std::int64_t from_edge = std::min(at, size - 1 - at);
    auto gain = static_cast<float>(tone.amplitude);
    if (!fades.empty())
      gain *= fades[static_cast<std::size_t>(std::min((first + at) / kFadeSamples, std::ssize(fades) - 1))];
    if (from_edge < std::ssize(rising)) gain *= rising[static_cast<std::size_t>(std::max<std::int64_t>(from_edge, 0))];
    const auto count = std::min<std::int64_t>(Oscillator::kLanes, size - at);
    oscillator.add(audio.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(count)), gain);
    if (tone.chirp_hz != 0) {
      const double off = tone.chirp_hz * std::exp(-static_cast<double>(at) / (kChirpSeconds * kRate));
      oscillator.turn(kFull * off * Oscillator::kLanes / kRate);
    }
  }
}

/// Slow fading and the turning second path of selective fading, a value for each millisecond.
std::vector<float> fades_of(std::int64_t samples, const RadioPath& path, CounterRandom& random) {
  if (path.fade_depth == 0 && path.notch_depth == 0) return {};
  const double fade_phase = random.uniform(0, kFull), notch_phase = random.uniform(0, kFull);
  std::vector<float> fades(static_cast<std::size_t>(samples / kFadeSamples + 1));
  for (std::size_t i = 0; i < fades.size(); ++i) {
    const double t = static_cast<double>(i) * kFadeSamples / kRate;
    const double slow = 1 - path.fade_depth * (0.5 + 0.5 * std::sin(kFull * path.fade_hz * t + fade_phase));
    const double angle = kFull * path.notch_hz * t + notch_phase;
    const double paths = std::hypot(1 + path.notch_depth * std::cos(angle), path.notch_depth * std::sin(angle));
    fades[i] = static_cast<float>(slow * paths / (1 + path.notch_depth));
  }
  return fades;
}

/// Where another station's tone is: at least 120 Hz away, unless the path has a distance.
double other_tone(double beside_hz, const Between& distance, CounterRandom& random) {
  double hertz = 0;
  if (distance.most > 0) {
    hertz = random.uniform(distance.least, distance.most) * (random.chance(0.5) ? 1 : -1) + beside_hz;
    return hertz < 150 ? 2 * beside_hz - hertz : hertz;
  }
  do hertz = random.uniform(300, 1500);
  while (std::abs(hertz - beside_hz) < 120);
  return hertz;
}

/// Another station, keying on from before the clip to its end.
void add_other(std::span<float> audio, double beside_hz, const RadioPath& path, CounterRandom& random) {
  Tone tone;
  tone.hertz = other_tone(beside_hz, path.beside_hz, random);
  tone.phase = random.uniform(0, kFull);
  tone.amplitude = kToneAmplitude * std::pow(10, (path.others_db - random.uniform(0, 12)) / 20);
  const Hand hand{random.uniform(15, 40), 0.05};
  const double length = static_cast<double>(audio.size()) / kRate;
  std::string text = contest_text(random).text;
  KeyedText keyed = key_text(text, hand, random);
  for (tone.start = -random.uniform(0, keyed.length()); tone.start < length;) {
    tone.downs = keyed.downs;
    add_tone(audio, tone);
    tone.start += keyed.length() + random.uniform(0.5, 4);
    keyed = key_text(contest_text(random).text, hand, random);
  }
}

void filter_through(std::span<float> audio, const Tone& signal, const RadioPath& path) {
  if (path.receiver) {
    for (int i = 0; i < path.receiver->slopes; ++i)
      Filter::between(path.receiver->low_hz, path.receiver->high_hz).run(audio);
    return;
  }
  const double width = path.filter_hz + std::abs(path.drift_hz);  // an operator keeps the signal within the filter
  for (int i = 0; i < path.filters; ++i) {
    Filter filter = path.filter_hz > 0 ? Filter::about(signal.hertz, width) : Filter::speech_band();
    filter.run(audio);
  }
}

/// Makes the loudest sample as loud as that.
void bring_to(std::span<float> audio, double loudness) {
  float peak = 1e-6F;
  for (const float sample : audio) peak = std::max(peak, std::abs(sample));
  for (float& sample : audio) sample *= static_cast<float>(loudness) / peak;
}

}  // namespace

void add_tone(std::span<float> audio, const Tone& tone, double drift_hz, std::span<const float> fades) {
  const double length = static_cast<double>(audio.size()) / kRate;
  const std::vector<float> rising = edge_of(tone.edge);
  for (const KeyDown& down : tone.downs) {
    const auto first = std::max<std::int64_t>(std::llround((tone.start + down.start) * kRate), 0);
    const auto last = std::min<std::int64_t>(std::llround((tone.start + down.end) * kRate), std::ssize(audio));
    if (first >= last) continue;
    // The frequency moves evenly from one end to the other; within a mark it is that of its middle.
    const double t = static_cast<double>(first) / kRate, middle = t + static_cast<double>(last - first) / kRate / 2;
    const double phase = tone.phase + kFull * (tone.hertz * t + drift_hz * (t * t / (2 * length) - t / 2));
    const double hertz = tone.hertz + drift_hz * (middle / length - 0.5);
    add_mark(audio.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first)), first,
             Oscillator(std::fmod(phase, kFull), kFull * hertz / kRate), tone, rising, fades);
  }
}

std::vector<float> received(std::int64_t samples, const Tone& signal, const RadioPath& path, CounterRandom& random) {
  std::vector<float> audio(static_cast<std::size_t>(samples));
  // White over all 8 kHz, as strong in the band of reference as it shall be there.
  const double in_band = kToneAmplitude * kToneAmplitude / 2 / std::pow(10, path.noise_db / 10);
  const double deviation = std::sqrt(in_band * (kRate / 2) / kBandWidth);
  add_noise(audio, deviation, random.bits64());
  add_crashes(audio, path.crashes_hz, deviation, random);
  add_clicks(audio, path.clicks_hz, std::max(deviation, kToneAmplitude), random);
  for (int i = 0; i < path.others; ++i) add_other(audio, signal.hertz, path, random);
  if (!signal.downs.empty()) {
    const auto fades = fades_of(samples, path, random);
    add_tone(audio, signal, path.drift_hz, fades);
    if (path.echo_gain > 0) {
      Tone late = signal;
      late.start += path.echo_seconds;
      late.phase += random.uniform(0, kFull);
      late.amplitude *= path.echo_gain;
      add_tone(audio, late, path.drift_hz, fades);
    }
  }
  filter_through(audio, signal, path);
  if (path.has_agc) control_gain(audio, kToneAmplitude * 2, path.agc_attack, path.agc_decay);
  if (path.loudness > 0) bring_to(audio, path.loudness);
  const auto drive = static_cast<float>(path.receiver ? path.receiver->drive : 1);
  for (float& sample : audio) sample = std::clamp(sample * drive, -0.99F, 0.99F);
  return audio;
}

}  // namespace tutti
