#include "audio/synth/pipe_sounds.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/synth/disturbance.h"
#include "audio/synth/leak_clip.h"
#include "audio/voice/level.h"

namespace tutti {
namespace {

constexpr double kRate = kLeakRate.value;
constexpr double kTurn = 2 * std::numbers::pi;

/// A second-order section at kLeakRate (the Audio EQ Cookbook of R. Bristow-Johnson).
class Section {
 public:
  static Section band(double hertz, double quality) {
    const double w = kTurn * hertz / kRate, alpha = std::sin(w) / (2 * quality);
    return {alpha, 0, -alpha, 1 + alpha, -2 * std::cos(w), 1 - alpha};
  }
  static Section low_pass(double hertz) {
    constexpr double kButterworth = 0.7071;
    const double w = kTurn * hertz / kRate, alpha = std::sin(w) / (2 * kButterworth), c = std::cos(w);
    return {(1 - c) / 2, 1 - c, (1 - c) / 2, 1 + alpha, -2 * c, 1 - alpha};
  }

  float next(float x) {
    const double y = b0_ * x + s1_;
    s1_ = b1_ * x - a1_ * y + s2_;
    s2_ = b2_ * x - a2_ * y;
    return static_cast<float>(y);
  }
  void run(std::span<float> audio) {
    for (auto& x : audio) x = next(x);
  }

 private:
  Section(double b0, double b1, double b2, double a0, double a1, double a2)
      : b0_(b0 / a0), b1_(b1 / a0), b2_(b2 / a0), a1_(a1 / a0), a2_(a2 / a0) {}
  double b0_, b1_, b2_, a1_, a2_;
  double s1_ = 0, s2_ = 0;
};

std::vector<float> noise(std::int64_t samples, CounterRandom& random) {
  std::vector<float> audio(static_cast<std::size_t>(samples));
  add_noise(audio, 1, random.bits64());
  return audio;
}

std::vector<float> noise_about(std::int64_t samples, double hertz, double quality, CounterRandom& random) {
  auto audio = noise(samples, random);
  Section::band(hertz, quality).run(audio);
  return audio;
}

void scale_to(std::span<float> audio, double level) {
  const double now = level_of(audio);
  if (now <= 0) return;
  for (auto& x : audio) x *= static_cast<float>(level / now);
}

void add(std::span<float> audio, std::vector<float> other, double level) {
  scale_to(other, level);
  for (std::size_t i = 0; i < audio.size(); ++i) audio[i] += other[i];
}

/// Multiplies by 1 - depth ... 1 + depth, which wanders about so many times a second.
void waver(std::span<float> audio, double depth, double per_second, CounterRandom& random) {
  constexpr double kUsual = 2;  // deviations that fill the depth
  auto slow = noise(std::ssize(audio), random);
  auto low_pass = Section::low_pass(per_second);
  low_pass.run(slow);
  const double level = std::max(level_of(slow), 1e-12);
  for (std::size_t i = 0; i < audio.size(); ++i)
    audio[i] *= static_cast<float>(1 + depth * std::clamp(slow[i] / (kUsual * level), -1.0, 1.0));
}

/// A jet of water from a hole: steady broad noise.
std::vector<float> leak(std::int64_t samples, CounterRandom& random) {
  auto audio = noise_about(samples, random.uniform(250, 800), random.uniform(0.5, 0.9), random);
  waver(audio, random.uniform(0.05, 0.2), random.uniform(0.2, 1), random);
  return audio;
}

/// A narrow gap: a higher, narrower hiss that flutters, and sometimes whistles.
std::vector<float> crack(std::int64_t samples, CounterRandom& random) {
  const double centre = random.uniform(800, 1500);
  auto audio = noise_about(samples, centre, random.uniform(1.5, 4), random);
  if (random.chance(0.4))
    add(audio, noise_about(samples, centre * random.uniform(0.9, 1.1), 60, random), 0.5 * level_of(audio));
  waver(audio, random.uniform(0.5, 0.95), random.uniform(5, 15), random);
  return audio;
}

/// Water that flows: low turbulence.
std::vector<float> flow(std::int64_t samples, CounterRandom& random) {
  auto audio = noise_about(samples, random.uniform(40, 140), random.uniform(0.4, 0.8), random);
  waver(audio, 0.2, 0.5, random);
  return audio;
}

/// Harmonics of a shaft and its blades, hardly ever quite steady.
void add_harmonics(std::span<float> audio, double hertz, int count, double fall, CounterRandom& random) {
  const double drift = random.uniform(-0.01, 0.01);
  for (int h = 1; h <= count && h * hertz < kRate / 2; ++h) {
    const double amplitude = std::pow(h, -fall) * random.uniform(0.3, 1);
    double phase = kTurn * random.uniform();
    for (std::size_t i = 0; i < audio.size(); ++i) {
      const double progress = static_cast<double>(i) / static_cast<double>(audio.size());
      phase += kTurn * h * hertz * (1 + drift * progress) / kRate;
      audio[i] += static_cast<float>(amplitude * std::sin(phase));
    }
  }
}

std::vector<float> pump(std::int64_t samples, CounterRandom& random) {
  std::vector<float> audio(static_cast<std::size_t>(samples));
  add_harmonics(audio, random.uniform(22, 60), 12, random.uniform(0.3, 1), random);
  waver(audio, 0.2, 2, random);
  add(audio, flow(samples, random), random.uniform(0.3, 0.8) * level_of(audio));
  return audio;
}

/// A tap is open for a while: noise that begins and ends, with a knock of the valve.
std::vector<float> tap(std::int64_t samples, CounterRandom& random) {
  const double length = static_cast<double>(samples) / kRate;
  const double begin = random.uniform(0, 0.4) * length, end = begin + random.uniform(0.2, 0.5) * length;
  const double edge = random.uniform(0.1, 0.5);
  auto audio = noise_about(samples, random.uniform(200, 600), random.uniform(0.5, 1), random);
  for (std::size_t i = 0; i < audio.size(); ++i) {
    const double t = static_cast<double>(i) / kRate;
    audio[i] *= static_cast<float>(std::clamp(std::min(t - begin, end - t) / edge, 0.0, 1.0));
  }
  add(audio, flow(samples, random), random.uniform(0.3, 0.8) * level_of(audio));
  return audio;
}

/// Vehicles that pass: rumble that swells and dies away.
std::vector<float> traffic(std::int64_t samples, CounterRandom& random) {
  std::vector<float> audio(static_cast<std::size_t>(samples));
  const auto cars = 1 + random.below(3);
  for (std::int64_t car = 0; car < cars; ++car) {
    auto one = noise_about(samples, random.uniform(25, 80), random.uniform(0.6, 1.5), random);
    add_harmonics(one, random.uniform(20, 40), 4, 1, random);
    const double middle = random.uniform() * static_cast<double>(samples), width = random.uniform(0.8, 3) * kRate;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double away = (static_cast<double>(i) - middle) / width;
      one[i] *= static_cast<float>(std::exp(-away * away));
    }
    add(audio, std::move(one), random.uniform(0.5, 1));
  }
  return audio;
}

/// Voices at the manhole: syllables of a gliding pitch through three formants.
std::vector<float> speech(std::int64_t samples, CounterRandom& random) {
  std::vector<float> pulses(static_cast<std::size_t>(samples));
  const double pitch = random.uniform(90, 220);
  double phase = 0;
  for (std::size_t i = 0; i < pulses.size();) {
    const auto syllable = static_cast<std::size_t>(random.uniform(0.1, 0.3) * kRate);
    const bool is_voiced = random.chance(0.75);
    const double hertz = pitch * random.uniform(0.85, 1.2);
    for (std::size_t k = 0; k < syllable && i < pulses.size(); ++k, ++i) {
      phase += hertz / kRate;
      const double swell = std::sin(std::numbers::pi * static_cast<double>(k) / static_cast<double>(syllable));
      if (phase >= 1 && is_voiced) pulses[i] = static_cast<float>(swell);
      phase = std::fmod(phase, 1.0);
    }
  }
  std::vector<float> audio(pulses.size());
  for (const auto& [least, most] : {Between{300, 700}, Between{900, 1400}, Between{1500, 1900}}) {
    auto formant = pulses;
    Section::band(random.uniform(least, most), random.uniform(4, 8)).run(formant);
    for (std::size_t i = 0; i < audio.size(); ++i) audio[i] += formant[i];
  }
  return audio;
}

/// The sensor is handled: knocks that ring, and rubbing.
std::vector<float> knocks(std::int64_t samples, CounterRandom& random) {
  std::vector<float> hits(static_cast<std::size_t>(samples));
  const auto count = 3 + random.below(15);
  for (std::int64_t i = 0; i < count; ++i)
    hits[static_cast<std::size_t>(random.below(samples))] = static_cast<float>(random.uniform(-1, 1));
  auto rubbing = noise_about(samples, random.uniform(100, 1200), 1, random);
  waver(rubbing, 1, 3, random);
  Section::band(random.uniform(80, 900), random.uniform(5, 25)).run(hits);
  add(hits, std::move(rubbing), random.uniform(0.1, 0.6) * level_of(hits));
  return hits;
}

/// A broken cable: mains hum with many harmonics, and gaps.
std::vector<float> hum(std::int64_t samples, CounterRandom& random) {
  std::vector<float> audio(static_cast<std::size_t>(samples));
  add_harmonics(audio, random.chance(0.5) ? 50 : 60, 20, random.uniform(0.2, 0.6), random);
  const auto gaps = random.below(8);
  for (std::int64_t gap = 0; gap < gaps; ++gap) {
    const auto begin = static_cast<std::size_t>(random.below(samples));
    const auto end = std::min(audio.size(), begin + static_cast<std::size_t>(random.uniform(0.05, 0.5) * kRate));
    std::fill(audio.begin() + static_cast<std::ptrdiff_t>(begin), audio.begin() + static_cast<std::ptrdiff_t>(end), 0);
  }
  return audio;
}

struct Kind {
  std::string_view name;
  std::vector<float> (*make)(std::int64_t, CounterRandom&);
};

constexpr std::array kKinds{Kind{"leak", leak},     Kind{"crack", crack},   Kind{"flow", flow},
                            Kind{"pump", pump},     Kind{"tap", tap},       Kind{"traffic", traffic},
                            Kind{"speech", speech}, Kind{"knocks", knocks}, Kind{"hum", hum}};

}  // namespace

std::string_view name_of(PipeSource source) {
  return kKinds[static_cast<std::size_t>(source)].name;
}

Pipe drawn_pipe(CounterRandom& random) {
  const bool is_metal = random.chance(0.5);
  Pipe pipe{.sharpness = is_metal ? random.uniform(6, 15) : random.uniform(2, 4),
            .strength = is_metal ? random.uniform(0.5, 2) : random.uniform(0.1, 0.5),
            .reach_hz_m = is_metal ? random.uniform(60'000, 150'000) : random.uniform(15'000, 40'000)};
  const double lowest = random.uniform(90, 300);
  for (std::size_t i = 0; i < pipe.modes_hz.size(); ++i)
    pipe.modes_hz[i] = lowest * (1 + static_cast<double>(i)) * random.uniform(0.9, 1.2);
  return pipe;
}

std::vector<float> audio_of(PipeSource source, std::int64_t samples, CounterRandom& random) {
  auto made = kKinds[static_cast<std::size_t>(source)].make(samples, random);
  scale_to(made, 1);
  return made;
}

void carry(std::span<float> audio, const Pipe& pipe, double distance_m) {
  const double direct = level_of(audio);
  std::vector<float> ringing(audio.begin(), audio.end());
  std::fill(ringing.begin(), ringing.end(), 0.0F);
  for (const double hertz : pipe.modes_hz) {
    std::vector<float> mode(audio.begin(), audio.end());
    Section::band(hertz, pipe.sharpness).run(mode);
    for (std::size_t i = 0; i < mode.size(); ++i) ringing[i] += mode[i];
  }
  add(audio, std::move(ringing), pipe.strength * direct);
  constexpr double kHighest = 2000;
  const double cut = pipe.reach_hz_m / std::max(distance_m, 1.0);
  if (cut < kHighest) Section::low_pass(cut).run(audio);
}

}  // namespace tutti
