#include "audio/synth/leak_clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <span>

#include "audio/mel/acoustic_mel.h"
#include "audio/voice/level.h"

using namespace tutti;

namespace {

constexpr int kLabels = 5;

struct Known {
  std::vector<double> features{};
  int label = 0;
};

/// What a file shows before it is played: its length, its level, and every part of its name.
std::vector<double> plain_features(const LeakClip& clip) {
  std::vector<float> audio(clip.pcm.begin(), clip.pcm.end());
  return {std::log(static_cast<double>(clip.pcm.size())),
          20 * std::log10(level_of(audio)),
          std::stod(clip.sensor.substr(1)),
          static_cast<double>(std::stoul(clip.recording.substr(1), nullptr, 16)),
          std::stod(clip.timestamp.substr(0, 8)),
          std::stod(clip.timestamp.substr(9)),
          static_cast<double>(clip.gain_db)};
}

/// The mean spectrum and how much it changes, without the level.
std::vector<double> audio_features(const LeakClip& clip) {
  const AcousticMel mel({.rate = kLeakRate, .n_fft = 512, .hop = 512, .n_mels = 16});
  std::vector<float> audio(clip.pcm.begin(), clip.pcm.end());
  for (auto& x : audio) x /= 32768;
  const auto frames = mel.frames(std::ssize(audio));
  std::vector<float> spectra(static_cast<std::size_t>(16 * frames));
  mel.compute(audio, audio.size(), spectra);
  std::vector<double> features;
  for (int band = 0; band < 16; ++band) {
    const std::span row(spectra.data() + band * frames, static_cast<std::size_t>(frames));
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(frames);
    double square = 0;
    for (const float x : row) square += (x - mean) * (x - mean);
    features.push_back(mean);
    features.push_back(std::sqrt(square / static_cast<double>(frames)));
  }
  double level = 0;
  for (std::size_t i = 0; i < features.size(); i += 2) level += features[i] / 16;
  for (std::size_t i = 0; i < features.size(); i += 2) features[i] -= level;
  return features;
}

/// The share of `all` named right by their five nearest neighbours among the others, every feature scaled alike.
double accuracy_of(std::vector<Known> all) {
  for (std::size_t k = 0; k < all[0].features.size(); ++k) {
    double sum = 0, square = 0;
    for (const auto& one : all) sum += one.features[k];
    const double mean = sum / static_cast<double>(all.size());
    for (const auto& one : all) square += std::pow(one.features[k] - mean, 2);
    const double deviation = std::sqrt(square / static_cast<double>(all.size())) + 1e-12;
    for (auto& one : all) one.features[k] = (one.features[k] - mean) / deviation;
  }
  int right = 0;
  for (const auto& one : all) {
    std::vector<std::pair<double, int>> others;
    for (const auto& other : all) {
      if (&other == &one) continue;
      double distance = 0;
      for (std::size_t k = 0; k < one.features.size(); ++k)
        distance += std::pow(one.features[k] - other.features[k], 2);
      others.emplace_back(distance, other.label);
    }
    std::ranges::nth_element(others, others.begin() + 5);
    std::array<int, kLabels> votes{};
    for (int i = 0; i < 5; ++i) ++votes[static_cast<std::size_t>(others[static_cast<std::size_t>(i)].second)];
    right += std::ranges::max_element(votes) - votes.begin() == one.label;
  }
  return static_cast<double>(right) / static_cast<double>(all.size());
}

}  // namespace

TEST(LeakClipLong, LengthLevelAndNameSayNothingOfTheLabel) {
  constexpr int kClips = 300;
  const LeakCorpus corpus{.seed = 11, .out_of_water_share = 0.05};
  std::vector<Known> plain, by_audio, marked;
  for (int i = 0; i < kClips; ++i) {
    const auto clip = leak_clip(corpus, i);
    const int label = static_cast<int>(clip.label);
    plain.push_back({plain_features(clip), label});
    by_audio.push_back({audio_features(clip), label});
    marked.push_back(plain.back());
    marked.back().features[1] += 12 * label;  // as if every label had a level of its own
  }
  const double chance = 1.0 / kLabels, deviation = std::sqrt(chance * (1 - chance) / kClips);
  EXPECT_NEAR(accuracy_of(plain), chance, 3 * deviation);
  EXPECT_GT(accuracy_of(marked), chance + 6 * deviation) << "this test would not see a label in the level";
  EXPECT_GT(accuracy_of(by_audio), 0.5) << "the labels are not in the spectra either";
}

TEST(LeakClip, DependsOnCorpusAndIndexAlone) {
  const LeakCorpus corpus{.seed = 3};
  const auto clip = leak_clip(corpus, 7), again = leak_clip(corpus, 7);
  EXPECT_EQ(clip.pcm, again.pcm);
  EXPECT_EQ(clip.name(), again.name());
  EXPECT_NE(clip.pcm, leak_clip({.seed = 4}, 7).pcm);
  std::set<std::string> names;
  for (int i = 0; i < 50; ++i) names.insert(leak_clip(corpus, i).name());
  EXPECT_EQ(names.size(), 50);
}

TEST(LeakClip, LabelledLeakIsAsFarAboveTheOthersAsRequested) {
  // What 50 dB lie between sounds almost as if nothing disturbed it; at -50 dB next to nothing is left of it.
  const auto likeness = [](double snr_db, std::int64_t index) {
    const auto alone = leak_clip({.seed = 5, .snr_db = Between{90, 90}}, index);
    const auto mixed = leak_clip({.seed = 5, .snr_db = Between{snr_db, snr_db}}, index);
    double both = 0, one = 0, other = 0;
    for (std::size_t i = 0; i < alone.pcm.size(); ++i) {
      both += static_cast<double>(alone.pcm[i]) * mixed.pcm[i];
      one += static_cast<double>(alone.pcm[i]) * alone.pcm[i];
      other += static_cast<double>(mixed.pcm[i]) * mixed.pcm[i];
    }
    return both / std::sqrt(one * other);
  };
  for (std::int64_t index = 0; index < kLabels; ++index) {
    EXPECT_GT(likeness(50, index), 0.999) << index;
    EXPECT_NEAR(likeness(0, index), std::sqrt(0.5), 0.03) << index;
    EXPECT_LT(likeness(-50, index), 0.05) << index;
  }
}

TEST(LeakClip, OutOfWaterHasAGainOfOneWhateverTheLabel) {
  const LeakCorpus corpus{.seed = 2, .out_of_water_share = 1};
  for (int i = 0; i < kLabels; ++i) {
    const auto clip = leak_clip(corpus, i);
    EXPECT_EQ(clip.gain_db, 1);
    EXPECT_EQ(clip.source, "air");
    EXPECT_TRUE(clip.name().ends_with("~1"));
  }
  EXPECT_EQ(check({.sensors = 0}).error().fault, Fault::usage);
  EXPECT_EQ(check({.snr_db = Between{5, 1}}).error().fault, Fault::usage);
}
