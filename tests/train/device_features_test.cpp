// Augmentation and features as a device computes them, held against those of the feed's threads.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "audio/log_mel.h"
#include "feed/corpus.h"
#include "feed/stages/pcm.h"
#include "train/gpu_features.h"

namespace tutti {
namespace {

at::Tensor mel_of(const Batch& batch) {
  return at::from_blob(const_cast<float*>(batch.row(0)), {batch.size(), batch.n_mels, batch.frames}, at::kFloat);
}

SoundRows rows_of(const std::vector<std::vector<std::int16_t>>& sounds) {
  SoundRows rows;
  std::size_t longest = 0;
  for (const auto& sound : sounds) longest = std::max(longest, sound.size());
  rows.sound = at::zeros({std::ssize(sounds), static_cast<std::int64_t>(longest)});
  for (std::size_t row = 0; row < sounds.size(); ++row) {
    rows.lengths.push_back(std::ssize(sounds[row]));
    const std::vector<float> values(sounds[row].begin(), sounds[row].end());
    rows.sound[static_cast<std::int64_t>(row)].narrow(0, 0, rows.lengths[row]).copy_(at::tensor(values));
  }
  return rows;
}

double power_of(const at::Tensor& sound) {
  return sound.to(at::kDouble).square().mean().item<double>();
}

/// The batches of a set with everything but noise done to its samples, made by the feed and by the device.
void expect_equal_features(const Augmentation& augmentation, Padding padding, double most) {
  const Corpus corpus(mixed_lengths(12), /*with_durations=*/true);
  auto options = options_for(corpus.manifest());
  options.window = Seconds(4);
  options.padding = padding;
  options.augmentation = augmentation;
  options.seed = 5;
  auto by_feed = opened(options);
  const auto expected = drained(by_feed);
  options.as_sound = true;
  auto as_sound = opened(options);
  const auto found = drained(as_sound);
  const DeviceFeatures features(at::kCPU, options.n_mels);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].frames, expected[i].frames);
    for (std::size_t row = 0; row < found[i].samples.size(); ++row) {
      EXPECT_EQ(found[i].samples[row].id, expected[i].samples[row].id);
      EXPECT_EQ(found[i].samples[row].frames, expected[i].samples[row].frames);
    }
    const auto difference = (features(found[i]) - mel_of(expected[i])).abs();
    EXPECT_LT(difference.mean().item<double>(), most / 20) << "batch " << i;
    EXPECT_LT(difference.max().item<double>(), most) << "batch " << i;
  }
}

TEST(DeviceFeatures, AreThoseOfTheFeed) {
  expect_equal_features({}, Padding::bucket, 1e-4);
}

TEST(DeviceFeatures, PaddingUpToTheWindowIsThatRowsSilence) {
  expect_equal_features({}, Padding::window, 1e-4);
}

TEST(DeviceFeatures, SpeedReverbAndGainEqualTheFeedUpToRounding) {
  // Where a sample is rounded the other way, the softest bins see it.
  Augmentation all;
  all.speed_share = all.gain_share = all.room_share = 0.7;
  expect_equal_features(all, Padding::bucket, 0.1);
}

TEST(DeviceFeatures, SpectrumMasksAreTheFeeds) {
  Augmentation masks;
  masks.spectrum = {.band_count = 2, .stretch_count = 2};
  expect_equal_features(masks, Padding::bucket, 1e-4);
}

TEST(DeviceLogMel, AudioShorterThanAFrameIsComputed) {
  const auto pcm = sound_of(1, 90);
  const auto expected = LogMel(80).window(PcmSamples(pcm), 0, 4);
  ASSERT_TRUE(expected);
  const auto sound = rows_of({pcm}).sound / 32768;
  const auto found = DeviceLogMel(80, at::kCPU)(sound, 4, 4).reshape({-1});
  EXPECT_LT((found - at::tensor(*expected)).abs().max().item<double>(), 1e-4);
}

TEST(DeviceNoise, IsAsSoftAsWasDrawnAndFollowsFromItsKey) {
  const auto sound = sound_of(3, 40'000);
  SoundChanges white{.noise = AddedNoise{.decibels = 10, .is_pink = false, .key = 11}};
  SoundChanges pink{.noise = AddedNoise{.decibels = 10, .is_pink = true, .key = 11}};
  const SoundChanges none;
  const auto before = rows_of({sound, sound, sound});
  const auto with = [&] { return changed_on_device(rows_of({sound, sound, sound}), {&white, &none, &pink}).sound; };
  const auto after = with();
  EXPECT_TRUE(at::equal(after, with()));
  EXPECT_TRUE(at::equal(after[1], before.sound[1])) << "nothing was drawn for it";
  for (const int row : {0, 2}) {
    const auto noise = after[row] - before.sound[row];
    EXPECT_NEAR(10 * std::log10(power_of(before.sound[row]) / power_of(noise)), 10, 0.05) << row;
    const auto power = at::fft_rfft(noise).abs().square().to(at::kDouble);
    const auto octave = [&](std::int64_t from) { return power.narrow(0, from, from).mean().item<double>(); };
    EXPECT_NEAR(10 * std::log10(octave(8000) / octave(2000)), row == 0 ? 0 : -6, 0.7)
        << "over two octaves, row " << row;
  }
  white.noise->key = 12;
  EXPECT_FALSE(at::equal(after[0], with()[0]));
}

TEST(DeviceNoise, DoesNotMoveTheTrainingsOwnRandomNumbers) {
  at::manual_seed(3);
  const auto expected = at::rand({4});
  at::manual_seed(3);
  const SoundChanges noisy{.noise = AddedNoise{.decibels = 10, .is_pink = false, .key = 11}};
  (void)changed_on_device(rows_of({sound_of(3, 4000)}), {&noisy});
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST(DeviceEffects, SilenceStaysSilentAndNothingPassesFullScale) {
  const std::vector<std::int16_t> silence(4000), loud(4000, 30000);
  const SoundChanges changes{
      .echoes = {{100, 0.5F}}, .noise = AddedNoise{.decibels = 5, .is_pink = true, .key = 2}, .gain_db = 6};
  const auto made = changed_on_device(rows_of({silence, loud}), {&changes, &changes}).sound;
  EXPECT_EQ(made[0].abs().max().item<float>(), 0);
  EXPECT_LE(made[1].max().item<float>(), 32767);
  EXPECT_GE(made[1].min().item<float>(), -32768);
}

}  // namespace
}  // namespace tutti
