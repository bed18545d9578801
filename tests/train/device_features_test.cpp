// Augmentation and features as a device computes them, held against those of the feed's threads.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "audio/mel/log_mel.h"
#include "audio/pcm_samples.h"
#include "feed/corpus.h"
#include "train/gpu_features.h"

namespace tutti {
namespace {

at::Tensor mel_of(const Batch& batch) {
  return at::from_blob(const_cast<float*>(batch.row(0)), {batch.size(), batch.n_mels, batch.frames}, at::kFloat);
}

AudioRows rows_of(const std::vector<std::vector<std::int16_t>>& clips) {
  AudioRows rows;
  std::size_t longest = 0;
  for (const auto& audio : clips) longest = std::max(longest, audio.size());
  rows.audio = at::zeros({std::ssize(clips), static_cast<std::int64_t>(longest)});
  for (std::size_t row = 0; row < clips.size(); ++row) {
    rows.lengths.push_back(std::ssize(clips[row]));
    const std::vector<float> values(clips[row].begin(), clips[row].end());
    rows.audio[static_cast<std::int64_t>(row)].narrow(0, 0, rows.lengths[row]).copy_(at::tensor(values));
  }
  return rows;
}

double power_of(const at::Tensor& audio) {
  return audio.to(at::kDouble).square().mean().item<double>();
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
  options.as_audio = true;
  auto as_audio = opened(options);
  const auto found = drained(as_audio);
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
  const auto pcm = audio_of(1, 90);
  const auto expected = LogMel(80).window(PcmSamples(pcm), 0, 4);
  ASSERT_TRUE(expected);
  const auto audio = rows_of({pcm}).audio / 32768;
  const auto found = DeviceLogMel(80, at::kCPU)(audio, 4, 4).reshape({-1});
  EXPECT_LT((found - at::tensor(*expected)).abs().max().item<double>(), 1e-4);
}

TEST(DeviceNoise, IsAsSoftAsWasDrawnAndFollowsFromItsKey) {
  const auto audio = audio_of(3, 40'000);
  AudioChanges white{.noise = AddedNoise{.decibels = 10, .is_pink = false, .key = 11}};
  AudioChanges pink{.noise = AddedNoise{.decibels = 10, .is_pink = true, .key = 11}};
  const AudioChanges none;
  const auto before = rows_of({audio, audio, audio});
  const auto with = [&] { return changed_on_device(rows_of({audio, audio, audio}), {&white, &none, &pink}).audio; };
  const auto after = with();
  EXPECT_TRUE(at::equal(after, with()));
  EXPECT_TRUE(at::equal(after[1], before.audio[1])) << "nothing was drawn for it";
  for (const int row : {0, 2}) {
    const auto noise = after[row] - before.audio[row];
    EXPECT_NEAR(10 * std::log10(power_of(before.audio[row]) / power_of(noise)), 10, 0.05) << row;
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
  const AudioChanges noisy{.noise = AddedNoise{.decibels = 10, .is_pink = false, .key = 11}};
  (void)changed_on_device(rows_of({audio_of(3, 4000)}), {&noisy});
  EXPECT_TRUE(at::equal(at::rand({4}), expected));
}

TEST(DeviceEffects, SilenceStaysSilentAndNothingPassesFullScale) {
  const std::vector<std::int16_t> silence(4000), loud(4000, 30000);
  const AudioChanges changes{
      .echoes = {{100, 0.5F}}, .noise = AddedNoise{.decibels = 5, .is_pink = true, .key = 2}, .gain_db = 6};
  const auto made = changed_on_device(rows_of({silence, loud}), {&changes, &changes}).audio;
  EXPECT_EQ(made[0].abs().max().item<float>(), 0);
  EXPECT_LE(made[1].max().item<float>(), 32767);
  EXPECT_GE(made[1].min().item<float>(), -32768);
}

}  // namespace
}  // namespace tutti
