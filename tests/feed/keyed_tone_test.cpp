#include <gtest/gtest.h>

#include "audio/mel/log_mel.h"
#include "audio/tone_filter.h"
#include "feed/corpus.h"
#include "feed/options.h"

namespace tutti {
namespace {

FeedOptions options_of(const Corpus& corpus, bool keyed_tone) {
  FeedOptions options = options_for(corpus.manifest());
  options.batch_size = 1;
  options.shuffle = false;
  options.keyed_tone = keyed_tone;
  return options;
}

TEST(KeyedToneFeed, HasTheFeaturesThatTranscriptionTakes) {
  const Corpus corpus({1.5});
  const auto batches = all_batches(options_of(corpus, true));
  const auto pcm = audio_of(0, 24000);
  const auto mel = LogMel(80, true).window(recording_of(pcm), 0, 150).value();
  for (std::int64_t bin = 0; bin < 80; ++bin)
    for (std::int64_t frame = 0; frame < 150; ++frame)
      ASSERT_NEAR(batches[0].mel().data()[static_cast<std::size_t>(bin * batches[0].frames + frame)],
                  mel[static_cast<std::size_t>(bin * 150 + frame)], 1e-5)
          << bin << ", " << frame;
}

TEST(KeyedToneFeed, HandsAudioOnFiltered) {
  const Corpus corpus({1.5});
  FeedOptions options = options_of(corpus, true);
  options.as_audio = true;
  options.augmentation.gain_share = 1;
  const auto batches = all_batches(options);
  const auto& clip = std::get<BatchClips>(batches[0].content)[0];
  EXPECT_FALSE(clip.changes.gain_db) << "it is done before the filter";
  EXPECT_NE(clip.pcm, keyed_tone(audio_of(0, 24000)));
}

TEST(KeyedToneFeed, IsAnotherFeed) {
  const Corpus corpus({1, 1});
  EXPECT_NE(fingerprint_of(options_of(corpus, true), 1), fingerprint_of(options_of(corpus, false), 1));
  TempFolder cache;
  auto plain = options_of(corpus, false), tone = options_of(corpus, true);
  plain.cache = tone.cache = {.folder = cache.path()};
  const auto before = digests_of(all_batches(plain)), filtered = digests_of(all_batches(tone));
  EXPECT_NE(before[0], filtered[0]) << "the cache has features of all sound";
  EXPECT_EQ(digests_of(all_batches(tone)), filtered);
  EXPECT_EQ(digests_of(all_batches(plain)), before);
}

}  // namespace
}  // namespace tutti
