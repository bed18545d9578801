// SetFeed on labelled clips; tests/python/package_test.py has a voice's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "feed/feature_cache.h"
#include "feed/labelled/labelled_set.h"
#include "public/tutti/feed.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

/// A training part with seven clips of a segment each; the features of clip i are all i + 1, its label is i % 2.
class SetFeeds : public testing::Test {
 protected:
  static constexpr std::size_t kClips = 7;

  void SetUp() override {
    const AudioGeometry geometry = clip_geometry(Hertz{16000}, Seconds(0.5), 16);
    std::vector<std::vector<std::uint16_t>> mel;
    std::vector<LabelledRow> rows;
    for (std::size_t i = 0; i < kClips; ++i) {
      mel.emplace_back(static_cast<std::size_t>(geometry.values()), to_half(static_cast<float>(i + 1)));
      const std::string name = std::to_string(i) + ".wav";
      rows.push_back({name, name, static_cast<std::int16_t>(i % 2), row_checksum(name, mel[i])});
    }
    const std::vector<std::string> labels{"HISS", "HUM"};
    const auto written =
        write_labelled_part(set_file(folder_.path(), SetPart::training),
                            {.geometry = geometry, .labels = labels, .rows = rows, .mel = [&](std::size_t i) {
                               return std::span<const std::uint16_t>(mel[i]);
                             }});
    ASSERT_TRUE(written) << written.error().text();
    options_.set = folder_.path();
    options_.batch_size = 2;
  }

  static std::vector<SetBatch> drained(const SetFeedOptions& options) {
    auto feed = SetFeed::open_labelled(options);
    if (!feed) throw std::runtime_error(feed.error().text());
    std::vector<SetBatch> batches;
    while (auto batch = feed->next()) batches.push_back(std::move(*batch));
    return batches;
  }
  static std::vector<std::vector<std::string>> ids_of(const std::vector<SetBatch>& batches) {
    std::vector<std::vector<std::string>> ids;
    for (const SetBatch& batch : batches) ids.push_back(batch.ids);
    return ids;
  }

  TempFolder folder_;
  SetFeedOptions options_;
};

TEST_F(SetFeeds, RowsHaveTheirOwnFeaturesAndLabels) {
  const auto batches = drained(options_);
  ASSERT_EQ(batches.size(), 4);
  for (const SetBatch& batch : batches) {
    const auto values = static_cast<std::size_t>(batch.n_mels * batch.frames);
    ASSERT_EQ(batch.features.size(), batch.ids.size() * values);
    for (std::size_t row = 0; row < batch.ids.size(); ++row) {
      const int number = std::stoi(batch.ids[row]);
      EXPECT_EQ(batch.features[row * values], static_cast<float>(number + 1));
      EXPECT_EQ(batch.labels[row], number % 2);
    }
  }
}

TEST_F(SetFeeds, PositionGoesOnWithTheNextBatch) {
  options_.epochs = 2;
  const auto whole = drained(options_);
  options_.resume = whole[2].position;
  const auto rest = ids_of(drained(options_));
  EXPECT_EQ(rest, ids_of({whole.begin() + 3, whole.end()}));
  options_.seed = 1;
  EXPECT_EQ(SetFeed::open_labelled(options_).error().fault, Fault::usage);
}

TEST_F(SetFeeds, RanksShareEachBatch) {
  options_.ranks = 2;
  std::map<std::string, int> times;
  std::vector<std::size_t> counts;
  for (options_.rank = 0; options_.rank < 2; ++options_.rank) {
    const auto batches = drained(options_);
    counts.push_back(batches.size());
    for (const auto& batch : batches)
      for (const auto& id : batch.ids) ++times[id];
  }
  EXPECT_THAT(counts, testing::ElementsAre(2, 2)) << "all ranks take as many steps";
  EXPECT_EQ(times.size(), kClips) << "and no clip is left out: one comes twice";
}

TEST_F(SetFeeds, PartThatIsNotThereIsNamed) {
  options_.part = "validation";
  const auto missing = SetFeed::open_labelled(options_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, Fault::missing);
  EXPECT_THAT(missing.error().text(), testing::HasSubstr("VALIDATION_DATASET.H5"));
}

}  // namespace
}  // namespace tutti
