// Interrupted packings, and sets that do not fit in memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <utility>

#include "feed/packed/pack_set.h"
#include "feed/packed/pack_writer.h"
#include "feed/packed/packed_set.h"
#include "feed/packed/sample_facts.h"
#include "feed/packing.h"
#include "support/log_capture.h"
#include "support/memory_limit.h"

namespace tutti {
namespace {

using testing::HasSubstr;

/// The key of the set that a pack was made from.
CacheKey key_in(const std::string& bytes) {
  PackHead head;
  std::memcpy(&head, bytes.data(), sizeof head);
  return head.key;
}

/// Where a sample's record ends.
std::size_t end_in(const PackedSet& set, std::int64_t number) {
  const PackEntry& entry = set.entry(number);
  return static_cast<std::size_t>(entry.at + record_bytes(entry, set.n_mels()));
}

TEST(HalfPack, InterruptedPackingResumesAndRepacksIncompleteSamples) {
  const Corpus corpus(mixed_lengths(10));
  FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  options.threads.features = 1;  // samples are packed in order
  const auto whole = digests_of(all_batches(options));
  const fs::path pack = packs_in(options.cache.folder).at(0);
  const std::string bytes = read_file(pack).value();
  const auto set = PackedSet::open(pack, key_in(bytes), 1).value();
  const auto end_of = [&](std::int64_t number) { return end_in(*set, number); };
  const auto with_hole = [&](std::size_t at) {
    std::string holed = bytes;
    return holed.replace(at, 100, 100, '\0');
  };
  const std::vector<std::pair<std::string, int>> left{{bytes, 10},  // complete, but not renamed yet
                                                      {bytes.substr(0, end_of(3)), 4},
                                                      {bytes.substr(0, end_of(3) - 1), 3},
                                                      {bytes.substr(0, end_of(3) + 20), 4},
                                                      {with_hole(end_of(4) + 70), 5},  // in the sixth sample's features
                                                      {with_hole(end_of(0) + 10), 1},  // in the second one's head
                                                      {bytes.substr(0, 30), 0},
                                                      {"no pack at all, but a user's file that has a pack's name", 0},
                                                      {"", 0}};
  for (const auto& [half, samples] : left) {
    fs::remove(pack);
    fs::path path = pack;
    ASSERT_TRUE(write_file_atomically(path += ".half", half));
    LogCapture log;
    EXPECT_EQ(digests_of(all_batches(options)), whole);
    const int reported = samples > 0 ? 1 : 0;
    EXPECT_EQ(log.count("packing the set: " + std::to_string(samples) + " of 10 samples are there"), reported);
    EXPECT_EQ(log.count("samples are there"), reported) << samples;
    EXPECT_EQ(log.count("samples into"), 1);
    EXPECT_TRUE(packs_in(options.cache.folder, ".half").empty());
    EXPECT_EQ(fs::file_size(pack), bytes.size());
  }
}

TEST(HalfPack, ResumedPackingDecodesNoFinishedSampleAgain) {
  const Corpus corpus(mixed_lengths(3));
  const FeedOptions options = gathering(options_for(corpus.manifest()), corpus.folder() / "cache");
  const auto data = open_dataset(options.data, {}, {});
  const auto key = pack_key(options, **data).value();
  const auto plan = plan_pack(options, **data).value();
  const fs::path pack = corpus.folder() / "own.setpack";
  ASSERT_TRUE(write_pack(options, **data, plan, key, pack));
  const auto mel_of = [](const PackedSet& set, std::int64_t number) {
    const auto mel = set.mel(set.entry(number));
    return std::vector<std::uint16_t>(mel.begin(), mel.end());
  };
  const auto first = PackedSet::open(pack, key, 1).value();
  fs::path half = pack;
  fs::rename(pack, half += ".half");
  for (std::size_t i = 0; i < 3; ++i) fs::remove(corpus.file(i));
  ASSERT_TRUE(write_pack(options, **data, plan, key, pack)) << "there is nothing left to decode";
  const auto second = PackedSet::open(pack, key, 1).value();
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(second->entry(i).is_bad());
    EXPECT_EQ(mel_of(*second, i), mel_of(*first, i));
  }
}

TEST(PackedSet, OutOfMemoryNamesARemedyAndTheSetStaysMapped) {
  if (!MemoryLimit::can_be_survived()) GTEST_SKIP() << "a sanitizer ends the process where memory cannot be had";
  const TempFolder folder;
  const std::vector<std::uint16_t> mel(std::size_t{80} * 300'000, 7);  // 48 MB: no allocator keeps that free
  const CacheKey key{1, 2};
  auto writer = PackWriter::create(folder / "a.setpack").value();
  std::vector<PackEntry> entries{{.piece = -1, .real = 299'000, .frames = 300'000}};
  ASSERT_TRUE(writer->append(0, entries[0], mel, write_facts(BatchSample{.id = "a"})));
  ASSERT_TRUE(writer->publish({.key = key, .n_mels = 80}, {0, 1}, entries));
  const auto set = PackedSet::open(folder / "a.setpack", key, 1).value();
  {
    const MemoryLimit limit(16 << 20);
    const auto moved = set->move_to_memory(1);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().fault, Fault::exhausted);
    EXPECT_THAT(moved.error().text(), testing::AllOf(HasSubstr("48.0 MB"), HasSubstr("data-set mapped")));
  }
  EXPECT_EQ(set->mel(set->entry(0)).back(), 7);
  ASSERT_TRUE(set->move_to_memory(1));
  EXPECT_EQ(set->mel(set->entry(0)).back(), 7);
  EXPECT_EQ(set->facts(set->entry(0)).id, "a");
}

}  // namespace
}  // namespace tutti
