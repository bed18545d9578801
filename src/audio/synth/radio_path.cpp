#include "audio/synth/radio_path.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti {
namespace {

constexpr std::array<std::string_view, kConditions> kNames{"clean", "good", "moderate", "poor", "dx"};
constexpr double kWide = 500, kNarrow = 250;  // Hz, of receivers' filters

/// The receiver's filter: most listen through one where the band is full.
double filter_of(double share, CounterRandom& random) {
  if (!random.chance(share)) return 0;
  return random.chance(0.5) ? kWide : kNarrow;
}

/// Some come straight from a keyer.
void make_clean(RadioPath& it, CounterRandom& random) {
  if (random.chance(0.3)) it.noise_db += 40;
}

void make_good(RadioPath& it, CounterRandom& random) {
  it.others = 1;
  it.others_db = -12;
  it.filter_hz = filter_of(0.3, random);
}

void make_moderate(RadioPath& it, CounterRandom& random) {
  it.others = 2;
  it.others_db = -9;
  it.crashes_hz = 0.3;
  it.drift_hz = random.uniform(-30, 30);
  it.fade_depth = random.uniform(0, 0.4);
  it.fade_hz = random.uniform(0.1, 0.5);
  it.filter_hz = filter_of(0.5, random);
}

void make_poor(RadioPath& it, CounterRandom& random) {
  it.others = 3;
  it.crashes_hz = 0.5;
  it.drift_hz = random.uniform(-50, 50);
  it.fade_depth = random.uniform(0.2, 0.6);
  it.fade_hz = random.uniform(0.1, 1);
  it.notch_depth = random.uniform(0.2, 0.6);
  it.notch_hz = random.uniform(0.05, 0.3);
  it.echo_seconds = random.uniform(0.001, 0.006);
  it.echo_gain = random.uniform(0.1, 0.4);
  it.filter_hz = filter_of(0.7, random);
}

void make_dx(RadioPath& it, CounterRandom& random) {
  it.others = 5;
  it.crashes_hz = 0.2;
  it.drift_hz = random.uniform(-100, 100);
  it.fade_depth = random.uniform(0.2, 0.5);
  it.fade_hz = random.uniform(0.1, 2);  // flutter over the pole
  it.filter_hz = filter_of(0.7, random);
}

}  // namespace

std::string_view name_of(Condition condition) {
  return kNames[static_cast<std::size_t>(condition)];
}

std::optional<Condition> condition_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Condition>(i);
  return std::nullopt;
}

Receiver drawn_receiver(double tone_hz, CounterRandom& random) {
  Receiver it;
  it.low_hz = random.chance(0.3) ? 0 : random.uniform(50, std::min(500.0, tone_hz));
  it.high_hz = random.uniform(std::max(1000.0, tone_hz), 3800);
  it.slopes = 1 + static_cast<int>(random.below(3));
  if (random.chance(2.0 / 3)) it.drive = std::pow(6, random.uniform());
  return it;
}

RadioPath off_air_path(CounterRandom& random) {
  RadioPath it;
  it.noise_db = random.chance(0.6) ? random.uniform(-13, 6) : random.uniform(6, 30);
  it.jitter = random.uniform(0.02, 0.1);
  if (random.chance(0.4)) it.drift_hz = random.uniform(-80, 80);
  if (random.chance(0.4)) {
    it.fade_depth = random.uniform(0.3, 0.9);
    it.fade_hz = 0.1 * std::pow(50, random.uniform());
  }
  if (random.chance(0.15)) {
    it.notch_depth = random.uniform(0.2, 0.7);
    it.notch_hz = random.uniform(0.05, 0.5);
  }
  if (random.chance(0.4)) {
    it.others = 1 + static_cast<int>(random.below(2));
    it.others_db = random.uniform(-14, -3);
    if (random.chance(0.7)) it.beside_hz = {40, 300};
  }
  if (random.chance(0.25)) it.crashes_hz = random.uniform(0.2, 3);
  if (random.chance(0.15)) it.clicks_hz = random.uniform(1, 20);
  if (random.chance(0.1)) it.chirp_hz = random.uniform(-60, 60);
  if (random.chance(0.75)) {
    it.filter_hz = 250 * std::pow(2400.0 / 250, random.uniform());
    it.filters = 1 + static_cast<int>(random.below(4));
  }
  if (random.chance(0.5)) {
    it.has_agc = true;
    it.agc_attack = random.uniform(0.001, 0.02);
    it.agc_decay = 0.05 * std::pow(40, random.uniform());
  }
  it.loudness = random.uniform(0.05, 0.95);
  return it;
}

RadioPath radio_path_of(Condition condition, CounterRandom& random) {
  constexpr std::array<double, kConditions> kNoiseDb{30, 20, 15, 10, 8};
  RadioPath it;
  it.noise_db = kNoiseDb[static_cast<std::size_t>(condition)] + random.uniform(-2, 2);
  it.jitter = condition == Condition::clean ? 0.02 : random.uniform(0.02, 0.08);
  switch (condition) {
    case Condition::clean: make_clean(it, random); break;
    case Condition::good: make_good(it, random); break;
    case Condition::moderate: make_moderate(it, random); break;
    case Condition::poor: make_poor(it, random); break;
    case Condition::dx: make_dx(it, random); break;
  }
  it.has_agc = condition != Condition::clean && random.chance(0.5);
  return it;
}

}  // namespace tutti
