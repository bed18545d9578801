#include "transcribe/prefetch.h"

#include <gtest/gtest.h>

#include "audio/pcm_samples.h"
#include "flow/bounded_queue.h"

using namespace tutti;

namespace {

constexpr std::int64_t kGiB = 1LL << 30;

DecodedFile hour() {
  DecodedFile file{.recording = Recording(OwnedFd(), 3600 * 16000, {})};
  file.speech.resize(3600 * 31);
  return file;
}

}  // namespace

TEST(LookAhead, TakesAnEighthOfTheMemoryThatIsAvailable) {
  const LookAhead ahead = look_ahead(MemoryFacts{.total = {64 * kGiB}, .available = {16 * kGiB}}, false);
  EXPECT_EQ(ahead.prepared, 1U * kGiB);
  EXPECT_EQ(ahead.decoded, kGiB / 2U);
  EXPECT_EQ(2 * ahead.decoded + ahead.prepared, 2U * kGiB);
}

TEST(LookAhead, ATightMachineStillHasAFewWindowsReady) {
  EXPECT_EQ(look_ahead(MemoryFacts{.total = {kGiB}, .available = {1 << 20}}, false).prepared, 32U << 20);
}

TEST(LookAhead, UnknownMemorySetsNoLimit) {
  EXPECT_EQ(look_ahead(std::nullopt, true).decoded, kUnlimited);
}

TEST(LookAhead, ARecordingCostsMemoryWhereItsSamplesLieInIt) {
  const DecodedFile file = hour();
  EXPECT_EQ(LookAhead{}.bytes_of(file), file.speech.size() * 4);
  EXPECT_EQ(LookAhead{.samples_in_memory = true}.bytes_of(file), 3600U * 32000 + file.speech.size() * 4);
}

TEST(LookAhead, AWindowCostsItsFeatures) {
  const std::vector<std::int16_t> silence(300 * kHopSamples);
  const LogMel log_mel(128);
  auto mel = ChunkMel::of(PcmSamples(silence), 300, log_mel).value();
  const Work work = ChunkWork{.file = nullptr, .chunk = 0, .audio = std::move(mel)};
  EXPECT_EQ(LookAhead{}.bytes_of(work), 128U * 300 * 4);
}

TEST(LookAhead, ARecordingLargerThanItsPartWaitsAlone) {
  const LookAhead ahead{.decoded = 1 << 20, .samples_in_memory = true};
  BoundedQueue<DecodedFile> queue({.items = 2, .bytes = ahead.decoded},
                                  [&](const DecodedFile& file) { return ahead.bytes_of(file); });
  EXPECT_TRUE(queue.push(hour()));
  EXPECT_EQ(queue.level().items, 1U);
  EXPECT_GT(queue.level().bytes, ahead.decoded);
}
