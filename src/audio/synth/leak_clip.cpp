#include "audio/synth/leak_clip.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "audio/synth/disturbance.h"
#include "audio/synth/pipe_sounds.h"
#include "audio/voice/level.h"
#include "base/time_text.h"

namespace tutti {
namespace {

/// Decibels of the labelled sound over all others: clean, good, moderate, poor, dx.
constexpr std::array<Between, kConditions> kRatios{Between{30, 40}, Between{20, 30}, Between{10, 20}, Between{0, 10},
                                                   Between{-10, 0}};

constexpr Between kLevel{-48, -28};  // decibels below full scale, of every clip
constexpr double kUsualSeconds = 10;

double amplitude_of(double decibels) {
  return std::pow(10, decibels / 20);
}

template <class T, std::size_t N>
T one_of(const std::array<T, N>& choices, CounterRandom& random) {
  return choices[static_cast<std::size_t>(random.below(N))];
}

PipeSource source_of(LeakLabel label, CounterRandom& random) {
  using enum PipeSource;
  switch (label) {
    case LeakLabel::background: return random.chance(0.6) ? traffic : speech;
    case LeakLabel::crack: return crack;
    case LeakLabel::leak: return leak;
    case LeakLabel::normal: return one_of(std::array{flow, pump, tap}, random);
    case LeakLabel::unclassified: break;
  }
  return random.chance(0.5) ? knocks : hum;
}

/// What else may be there without making the label wrong: beside the pipe's surroundings no water.
PipeSource disturbance_of(LeakLabel label, CounterRandom& random) {
  using enum PipeSource;
  if (label == LeakLabel::background) return random.chance(0.5) ? traffic : speech;
  return one_of(std::array{flow, pump, tap, traffic, speech}, random);
}

/// Name, gain, condition and length: nothing here looks at the label.
std::int64_t draw_facts(const LeakCorpus& corpus, LeakClip& clip, CounterRandom& random) {
  char text[32];
  const auto sensor = random.below(corpus.sensors);
  std::snprintf(text, sizeof text, "S%03lld", static_cast<long long>(sensor) + 1);
  clip.sensor = text;
  std::snprintf(text, sizeof text, "R%08x", random.bits32());
  clip.recording = text;
  constexpr std::time_t kStart = 1'704'067'200;  // 2024-01-01
  constexpr std::int64_t kTwoYears = 63'072'000;
  clip.timestamp = utc_text(kStart + random.below(kTwoYears), "%Y%m%dT%H%M%S");
  clip.gain_db = static_cast<int>(20 + random.below(101));
  if (random.chance(corpus.out_of_water_share)) clip.gain_db = 1;
  clip.condition = corpus.condition.value_or(static_cast<Condition>(random.below(kConditions)));
  const auto ratio = corpus.snr_db.value_or(kRatios[static_cast<std::size_t>(clip.condition)]);
  clip.snr_db = random.uniform(ratio.least, ratio.most);
  clip.distance_m = std::exp(random.uniform(0, std::log(150)));
  const double seconds = random.chance(0.8) ? kUsualSeconds : random.uniform(8, 12);
  return static_cast<std::int64_t>(seconds * kLeakRate.value);
}

/// The pipe of a sensor is the same in all its clips.
Pipe pipe_of(const LeakCorpus& corpus, const std::string& sensor) {
  CounterRandom random({corpus.seed, digest(sensor), digest("pipe")});
  return drawn_pipe(random);
}

/// The noise of a sensor's amplifier, of its own colour.
std::vector<float> sensor_noise(const LeakCorpus& corpus, const std::string& sensor, std::int64_t samples,
                                CounterRandom& random) {
  CounterRandom own({corpus.seed, digest(sensor), digest("noise")});
  std::vector<float> audio(static_cast<std::size_t>(samples));
  add_noise(audio, 1, random.bits64());
  const auto colour = static_cast<float>(own.uniform(0, 0.9));
  float last = 0;
  for (auto& x : audio) x = last = x + colour * last;
  return audio;
}

void mix(std::vector<float>& audio, const std::vector<float>& other, double factor) {
  for (std::size_t i = 0; i < audio.size(); ++i) audio[i] += static_cast<float>(factor * other[i]);
}

/// The labelled sound with what disturbs it, `snr_db` below.
std::vector<float> in_water(const LeakCorpus& corpus, LeakClip& clip, std::int64_t samples, CounterRandom& random) {
  const auto source = source_of(clip.label, random);
  clip.source = name_of(source);
  auto audio = audio_of(source, samples, random);
  const auto pipe = pipe_of(corpus, clip.sensor);
  if (clip.label != LeakLabel::unclassified) carry(audio, pipe, clip.distance_m);
  auto others = sensor_noise(corpus, clip.sensor, samples, random);
  if (random.chance(0.5)) {
    const auto disturbance = disturbance_of(clip.label, random);
    clip.disturbance = name_of(disturbance);
    auto more = audio_of(disturbance, samples, random);
    carry(more, pipe, random.uniform(1, 150));
    mix(others, more, random.uniform(0.3, 2) * level_of(others) / std::max(level_of(more), 1e-12));
  }
  mix(audio, others, level_of(audio) / (level_of(others) * amplitude_of(clip.snr_db)));
  return audio;
}

/// A hydrophone in the air records hum, knocks and its own noise, whatever the label.
std::vector<float> in_air(const LeakCorpus& corpus, LeakClip& clip, std::int64_t samples, CounterRandom& random) {
  clip.source = "air";
  auto audio = sensor_noise(corpus, clip.sensor, samples, random);
  const double level = level_of(audio);
  mix(audio, audio_of(PipeSource::hum, samples, random), random.uniform(0.5, 2) * level);
  mix(audio, audio_of(PipeSource::knocks, samples, random), random.uniform(0.1, 1) * level);
  return audio;
}

}  // namespace

std::string LeakClip::name() const {
  return sensor + "~" + recording + "~" + timestamp + "~" + std::to_string(gain_db);
}

Result<void> check(const LeakCorpus& corpus) {
  constexpr int kMostSensors = 999;
  if (corpus.sensors < 1 || corpus.sensors > kMostSensors)
    return fail(Fault::usage, "sensors: expected 1 to 999, found " + std::to_string(corpus.sensors));
  if (!(corpus.out_of_water_share >= 0 && corpus.out_of_water_share <= 1))
    return fail(Fault::usage,
                "out-of-water-share: expected 0 to 1, found " + std::to_string(corpus.out_of_water_share));
  constexpr double kMost = 100;
  if (const auto& snr = corpus.snr_db; snr && !(snr->least >= -kMost && snr->least <= snr->most && snr->most <= kMost))
    return fail(Fault::usage, "snr-db: expected -100 to 100, the lower one first, found " + std::to_string(snr->least) +
                                  " and " + std::to_string(snr->most));
  return {};
}

LeakClip leak_clip(const LeakCorpus& corpus, std::int64_t index) {
  CounterRandom facts({corpus.seed, static_cast<std::uint64_t>(index), digest("leak clip")});
  CounterRandom random({corpus.seed, static_cast<std::uint64_t>(index), digest("leak sound")});
  LeakClip clip{.label = static_cast<LeakLabel>(index % std::ssize(kLeakLabels))};
  const auto samples = draw_facts(corpus, clip, facts);
  const double level = amplitude_of(facts.uniform(kLevel.least, kLevel.most));
  const auto audio =
      clip.gain_db == 1 ? in_air(corpus, clip, samples, random) : in_water(corpus, clip, samples, random);
  const double factor = level / std::max(level_of(audio), 1e-12);
  constexpr double kFullScale = 32767;
  clip.pcm.reserve(audio.size());
  for (const float x : audio)
    clip.pcm.push_back(static_cast<std::int16_t>(std::lround(kFullScale * std::clamp(factor * x, -1.0, 1.0))));
  return clip;
}

}  // namespace tutti
