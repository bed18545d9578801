#include "feed/voice/voice_buckets.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/random/counter_random.h"
#include "feed/voice/voice_writer.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// A set of 300 clips of 40 to 800 frames, and some for validation.
const VoiceSet& clips() {
  static const TempFolder folder;
  static const auto set = [] {
    auto mel = usual_voice_mel(Hertz{16000});
    mel.n_mels = 1;
    auto writer = VoiceSetWriter::create(folder / "set", mel).value();
    CounterRandom random({1});
    for (int i = 0; i < 320; ++i) {
      const auto frames = static_cast<std::size_t>(40 + random.below(761));
      NewVoiceClip clip{.symbols = std::vector<std::int32_t>(2 + frames / 8, 1),
                        .mel = std::vector<float>(frames),
                        .pitch = std::vector<float>(frames),
                        .energy = std::vector<float>(frames),
                        .part = i % 16 == 0 ? VoicePart::validation : VoicePart::training};
      EXPECT_TRUE(writer->append(clip));
    }
    EXPECT_TRUE(writer->publish({.symbols = {"_", "a"}, .speakers = {"ann"}}, "front end"));
    return VoiceSet::open(folder / "set").value();
  }();
  return *set;
}

BucketedBatches opened(const std::shared_ptr<const VoiceBuckets>& buckets, std::int64_t epochs,
                       const std::string& position = "") {
  return BucketedBatches::open(buckets, {.epochs = epochs, .seed = 3, .fingerprint = 5}, position).value();
}

}  // namespace

TEST(VoiceBuckets, EveryClipFitsItsShapeAndFewFramesArePadding) {
  const VoiceBuckets buckets(clips(), 16, 1);
  const auto part = clips().part(VoicePart::training);
  std::set<std::int64_t> frames;
  std::int64_t computed = 0, real = 0;
  for (std::size_t row = 0; row < part.size(); ++row) {
    const auto& shape = buckets.shape_of(static_cast<std::int64_t>(row));
    EXPECT_GE(shape.frames, clips().frames(part[row]));
    EXPECT_GE(shape.symbols, clips().symbols(part[row]));
    frames.insert(shape.frames);
    computed += shape.frames;
    real += clips().frames(part[row]);
  }
  EXPECT_EQ(std::ssize(frames), buckets.shapes());
  EXPECT_LE(buckets.shapes(), 12);
  EXPECT_LT(static_cast<double>(computed) / static_cast<double>(real), 1.2);
}

TEST(VoiceBuckets, BatchesHaveAboutTheSameFrames) {
  const VoiceBuckets buckets(clips(), 16, 1);
  const auto part = clips().part(VoicePart::training);
  double mean = 0;
  for (const auto clip : part) mean += static_cast<double>(clips().frames(clip)) / static_cast<double>(part.size());
  std::map<std::int64_t, std::int64_t> clips_of;  // by the frames of their shape
  for (std::int64_t row = 0; row < std::ssize(part); ++row) ++clips_of[buckets.shape_of(row).frames];
  for (std::int64_t row = 0; row < std::ssize(part); ++row) {
    const auto& shape = buckets.shape_of(row);
    EXPECT_LE(static_cast<double>(shape.rows * shape.frames), 16 * mean);
    if (shape.rows < clips_of[shape.frames]) {
      EXPECT_GT(static_cast<double>((shape.rows + 1) * shape.frames), 16 * mean - 1);
    }
  }
}

TEST(VoiceBuckets, NoNewShapeComesAfterTheFirstEpoch) {
  const auto buckets = std::make_shared<const VoiceBuckets>(clips(), 16, 1);
  auto batches = opened(buckets, 3);
  std::map<std::int64_t, std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>>> shapes;
  std::map<std::int64_t, std::set<std::int64_t>> rows;
  while (const auto batch = batches.next()) {
    const auto& shape = buckets->shape_of(batch->rows().front());
    EXPECT_EQ(std::ssize(batch->rows()), shape.rows);
    EXPECT_EQ(std::ssize(std::set(batch->rows().begin(), batch->rows().end())), shape.rows)
        << "no clip twice in a batch";
    for (const auto row : batch->rows()) EXPECT_EQ(buckets->shape_of(row), shape);
    shapes[batch->epoch].emplace(shape.rows, shape.symbols, shape.frames);
    rows[batch->epoch].insert(batch->rows().begin(), batch->rows().end());
  }
  ASSERT_EQ(shapes.size(), 3U);
  for (const std::int64_t epoch : {0, 1, 2}) {
    EXPECT_EQ(shapes[epoch], shapes[0]);
    EXPECT_EQ(std::ssize(rows[epoch]), std::ssize(clips().part(VoicePart::training))) << "every clip in every epoch";
  }
  EXPECT_EQ(std::ssize(shapes[0]), buckets->shapes());
}

TEST(VoiceBuckets, ResumedBatchesGoOnWithTheNext) {
  const auto buckets = std::make_shared<const VoiceBuckets>(clips(), 16, 1);
  auto whole = opened(buckets, 2);
  std::vector<Batch> all;
  while (auto batch = whole.next()) all.push_back(std::move(*batch));
  auto resumed = opened(buckets, 2, all[30].position);
  for (std::size_t i = 31; i < all.size(); ++i) EXPECT_EQ(resumed.next()->rows(), all[i].rows()) << i;
  EXPECT_FALSE(resumed.next());
  EXPECT_NE(all[0].rows(), all[static_cast<std::size_t>(buckets->batches())].rows())
      << "another order in the next epoch";
  const auto other = BucketedBatches::open(buckets, {.seed = 4, .fingerprint = 5}, all[30].position);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().fault, Fault::usage);
}

TEST(VoiceBuckets, ClipsThatBecomeLongerHaveSpace) {
  const VoiceBuckets buckets(clips(), 16, 1 / 0.9);
  const auto part = clips().part(VoicePart::training);
  for (std::size_t row = 0; row < part.size(); ++row)
    EXPECT_GE(static_cast<double>(buckets.shape_of(static_cast<std::int64_t>(row)).frames),
              static_cast<double>(clips().frames(part[row])) / 0.9);
}
