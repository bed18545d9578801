#include "feed/labelled/labelled_set.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "base/files.h"
#include "feed/feature_cache.h"
#include "feed/hdf5/hdf5_file.h"
#include "feed/labelled/feature_spool.h"
#include "feed/labelled/labelled_batches.h"
#include "feed/labelled/set_builder.h"
#include "feed/labelled/set_split.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// A part of `count` files; the features of file i are all the number i + 1.
struct SmallPart {
  explicit SmallPart(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      mel.emplace_back(static_cast<std::size_t>(geometry.values()), to_half(static_cast<float>(i + 1)));
      const auto name = "LEAK/" + std::to_string(i) + ".wav";
      rows.push_back(
          {name, "group " + std::to_string(i), static_cast<std::int16_t>(i % 2), row_checksum(name, mel[i])});
    }
  }
  Result<void> write(const std::filesystem::path& path) {
    return write_labelled_part(path,
                               {.geometry = geometry, .labels = labels, .rows = rows, .mel = [this](std::size_t i) {
                                  return std::span<const std::uint16_t>(mel[i]);
                                }});
  }
  AudioGeometry geometry = leak_geometry();
  std::vector<std::string> labels{"LEAK", "NORMAL"};
  std::vector<LabelledRow> rows{};
  std::vector<std::vector<std::uint16_t>> mel{};
};

std::vector<LabelledFile> files_of(int labels, int groups, int files) {
  std::vector<LabelledFile> all;
  for (int label = 0; label < labels; ++label)
    for (int group = 0; group < groups; ++group)
      for (int file = 0; file < files; ++file)
        all.push_back({.name = std::to_string(label) + "/" + std::to_string(group) + "-" + std::to_string(file),
                       .label = std::to_string(label),
                       .group = std::to_string(label) + "-" + std::to_string(group)});
  return all;
}

}  // namespace

TEST(LabelledSet, WrittenPartIsReadAgain) {
  const TempFolder folder;
  SmallPart part(6);
  ASSERT_TRUE(part.write(folder / "set.H5"));
  const auto set = LabelledSet::open(folder / "set.H5");
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ((*set)->files(), 6);
  EXPECT_EQ((*set)->rows(), 6 * 80);
  EXPECT_EQ((*set)->labels(), part.labels);
  EXPECT_EQ((*set)->geometry().name, "leak");
  EXPECT_EQ((*set)->row_values(), 64);
  for (std::int64_t file = 0; file < 6; ++file) {
    EXPECT_EQ((*set)->label_of_file(file), file % 2);
    EXPECT_EQ((*set)->name_of_file(file), part.rows[static_cast<std::size_t>(file)].name);
    EXPECT_EQ((*set)->mel()[static_cast<std::size_t>(file) * 80 * 64], to_half(static_cast<float>(file + 1)));
  }
  EXPECT_EQ((*set)->id_of(81), "LEAK/1.wav#1");
}

TEST(LabelledSet, FileHasTheShapesAndTypesOfTheNote) {
  const TempFolder folder;
  ASSERT_TRUE(SmallPart(3).write(folder / "set.H5"));
  const auto file = Hdf5File::open(folder / "set.H5");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dataset("segments_mel")->text(), "float16 [3, 40, 2, 64, 1]");
  EXPECT_TRUE(file->dataset("segments_mel")->offset);
  EXPECT_EQ(file->dataset("labels")->text(), "int16 [3]");
  EXPECT_EQ(file->attribute("labels_json").value(), "[\"LEAK\",\"NORMAL\"]");
  EXPECT_EQ(file->attribute("label2id_json").value(), "{\"LEAK\":0,\"NORMAL\":1}");
  for (const char* name : {"config_json", "cnn_config_json", "created_at_utc"})
    EXPECT_TRUE(file->attribute(name)) << name;
}

/// Note 003's builder: four buffers of batches in work were one and the same.
TEST(LabelledSet, SharedBuffersAreNoticedAndNothingAppears) {
  const TempFolder folder;
  SmallPart part(8);
  const auto last_of_four = [&](std::size_t row) {
    return std::span<const std::uint16_t>(part.mel[std::min<std::size_t>(row / 4 * 4 + 3, 7)]);
  };
  const auto written = write_labelled_part(
      folder / "set.H5", {.geometry = part.geometry, .labels = part.labels, .rows = part.rows, .mel = last_of_four});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().what.find("row 0 does not hold the features of LEAK/0.wav"), std::string::npos)
      << written.error().what;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

/// Note 003's builder keeps files that it cannot read, as zeros with their label.
TEST(LabelledSet, ZerosAndFeaturesThatAreNoNumbersAreLeftOut) {
  const TempFolder folder;
  SmallPart part(6);
  std::ranges::fill(part.mel[1], std::uint16_t{0});
  part.mel[4][77] = 0x7e00;  // not a number
  part.mel[5][0] = 0xfc00;   // minus infinity
  for (const std::size_t i : {1U, 4U, 5U}) part.rows[i].checksum = row_checksum(part.rows[i].name, part.mel[i]);
  ASSERT_TRUE(part.write(folder / "set.H5"));
  const auto set = LabelledSet::open(folder / "set.H5");
  ASSERT_TRUE(set) << set.error().text();
  ASSERT_EQ((*set)->files(), 3);
  for (const auto& [file, number] : {std::pair(0, 0), std::pair(1, 2), std::pair(2, 3)}) {
    EXPECT_EQ((*set)->name_of_file(file), "LEAK/" + std::to_string(number) + ".wav");
    EXPECT_EQ((*set)->group_of_file(file), "group " + std::to_string(number));
    EXPECT_EQ((*set)->label_of_file(file), number % 2);
    EXPECT_EQ((*set)->mel()[static_cast<std::size_t>(file) * 80 * 64], to_half(static_cast<float>(number + 1)));
  }
  EXPECT_EQ((*set)->mel().size(), 3 * 80 * 64);
}

TEST(LabelledSet, ClipsOfARecordingAreKnownAgain) {
  const TempFolder folder;
  SmallPart part(6);
  for (const std::size_t i : {0U, 1U, 2U}) {
    part.rows[i].name = clip_name("LEAK/a.wav", Seconds(10 * static_cast<double>(i)));
    part.rows[i].recording = "LEAK/a.wav";
    part.rows[i].label = 0;
    part.rows[i].checksum = row_checksum(part.rows[i].name, part.mel[i]);
  }
  ASSERT_TRUE(part.write(folder / "set.H5"));
  const auto set = LabelledSet::open(folder / "set.H5").value();
  EXPECT_EQ(set->name_of_file(1), "LEAK/a.wav@10.000");
  EXPECT_EQ(set->recording_of_file(1), "LEAK/a.wav");
  using Clips = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(set->recordings(), (Clips{{0, 3}, {3, 4}, {4, 5}, {5, 6}}));
  const std::vector<std::int64_t> some{1, 2, 5};
  const auto few = set->of_files(some);
  EXPECT_EQ(few->recordings(), (Clips{{0, 2}, {2, 3}}));
  EXPECT_EQ(few->mel()[2 * 80 * 64], to_half(6));
  EXPECT_NE(few->fingerprint(), set->fingerprint());
  const auto both = few->with(*set);
  ASSERT_EQ(both->files(), 9);
  EXPECT_EQ(both->recordings().size(), 6U);
  EXPECT_EQ(both->mel()[3 * 80 * 64], to_half(1));
  EXPECT_EQ(both->name_of_file(8), "LEAK/5.wav");
}

TEST(LabelledSet, OtherShapesAreNamed) {
  const TempFolder folder;
  {
    auto file = Hdf5File::create(folder / "set.H5");
    ASSERT_TRUE(file);
    const std::vector<std::uint16_t> mel(2 * 40 * 2 * 32);
    const std::vector<std::int16_t> labels(2);
    ASSERT_TRUE(file->write("segments_mel", Hdf5Type::f16, {2, 40, 2, 32, 1}, std::as_bytes(std::span(mel))));
    ASSERT_TRUE(file->write("labels", Hdf5Type::i16, {2}, std::as_bytes(std::span(labels))));
    ASSERT_TRUE(file->write_attribute("config_json", show_geometry(leak_geometry())));
    ASSERT_TRUE(file->close());
  }
  const auto set = LabelledSet::open(folder / "set.H5");
  ASSERT_FALSE(set);
  EXPECT_NE(
      set.error().what.find("dataset 'segments_mel': found float16 [2, 40, 2, 32, 1], expected float16 [2, 40, 2, "
                            "64, 1]"),
      std::string::npos)
      << set.error().what;
}

/// As tools/golden/note_set.py makes it with h5py: the note's layout, of clips of a quarter of a second and 16 mels.
TEST(LabelledSet, SetOfTheNotesBuilderIsRead) {
  const auto set = LabelledSet::open(std::string(TUTTI_SOURCE_DIR) + "/tests/data/train/NOTE_SET.H5");
  ASSERT_TRUE(set) << set.error().text();
  EXPECT_EQ((*set)->labels(), (std::vector<std::string>{"BACKGROUND", "LEAK", "NORMAL"}));
  const auto& geometry = (*set)->geometry();
  EXPECT_EQ(geometry.name, "leak");
  EXPECT_EQ(geometry.mel.rate, Hertz{4096});
  EXPECT_EQ(geometry.longs, 1);
  EXPECT_EQ(geometry.short_hop, 512);
  ASSERT_EQ((*set)->files(), 3);
  EXPECT_EQ((*set)->rows(), 6);
  EXPECT_EQ((*set)->label_of_file(2), 2);
  EXPECT_EQ((*set)->name_of_file(2), "file 2");
  for (std::size_t value = 0; value < 3 * 32; ++value) {
    const double expected = static_cast<double>(value / 32) + static_cast<double>(value % 32 / 16) / 2 +
                            static_cast<double>(value % 16) / 1024;
    EXPECT_NEAR(from_half((*set)->mel()[value]), expected, 2e-3) << value;
  }
}

TEST(LabelledSet, FileThatIsNoHdf5IsNamed) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "set.H5", "no data"));
  const auto set = LabelledSet::open(folder / "set.H5");
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().fault, Fault::corrupt);
}

TEST(SetBuilder, OnlyFilesOfABuildMayBeReplaced) {
  for (const std::string name : {"TRAINING_DATASET.H5", "TESTING_WAVEFORMS.H5", "bad_samples.jsonl", "features.part"}) {
    const TempFolder folder;
    ASSERT_TRUE(write_file_atomically(folder / name, "a person's own"));
    const auto own = expect_own_set_files(folder.path());
    ASSERT_FALSE(own) << name;
    EXPECT_EQ(own.error().fault, Fault::usage);
    EXPECT_NE(own.error().what.find(name), std::string::npos) << own.error().what;
  }
  const TempFolder folder;
  ASSERT_TRUE(SmallPart(3).write(folder / "TRAINING_DATASET.H5"));
  ASSERT_TRUE(write_file_atomically(folder / "bad_samples.jsonl", "{\"id\":\"a.wav\",\"reason\":\"is silent\"}\n"));
  ASSERT_TRUE(FeatureSpool::open(folder / "features.part", leak_geometry()));
  const auto own = expect_own_set_files(folder.path());
  EXPECT_TRUE(own) << own.error().text();
}

TEST(SetSplit, GroupsStayTogetherAndSharesHold) {
  auto files = files_of(3, 50, 4);
  const auto report = split_files(files, {}, 1);
  ASSERT_TRUE(report) << report.error().text();
  std::map<std::string, std::set<SetPart>> parts;
  for (const auto& file : files) parts[file.group].insert(file.part);
  for (const auto& [group, seen] : parts) EXPECT_EQ(seen.size(), 1) << group;
  for (const auto& counts : report->files) {
    EXPECT_NEAR(static_cast<double>(counts[0]), 140, 4);
    EXPECT_NEAR(static_cast<double>(counts[1]), 40, 4);
    EXPECT_NEAR(static_cast<double>(counts[2]), 20, 4);
  }
}

TEST(SetSplit, SameSeedGivesTheSameSplit) {
  auto first = files_of(2, 20, 1), second = first, other = first;
  ASSERT_TRUE(split_files(first, {}, 1) && split_files(second, {}, 1) && split_files(other, {}, 2));
  const auto parts = [](const std::vector<LabelledFile>& files) {
    std::vector<SetPart> all;
    for (const auto& file : files) all.push_back(file.part);
    return all;
  };
  EXPECT_EQ(parts(first), parts(second));
  EXPECT_NE(parts(first), parts(other));
}

TEST(SetSplit, TwoGroupsAreLearnedAndValidated) {
  auto files = files_of(2, 2, 3);
  const auto report = split_files(files, {}, 3);
  ASSERT_TRUE(report);
  for (const auto& counts : report->files) EXPECT_EQ(counts, (std::vector<std::int64_t>{3, 3, 0}));
}

TEST(SetSplit, FewGroupsStillLeaveOneOfEachLabelForATest) {
  // Groups of several labels, as sensors are: by shares alone some label would have none for a test.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<LabelledFile> files;
    for (int group = 0; group < 4; ++group)
      for (int label = 0; label < 3; ++label)
        for (int i = 0; i < 1 + (group * label) % 3; ++i)
          files.push_back({.name = std::to_string(files.size()),
                           .label = std::to_string(label),
                           .group = "sensor " + std::to_string(group)});
    const auto report = split_files(files, {}, seed);
    ASSERT_TRUE(report);
    for (const auto& counts : report->files)
      for (const auto count : counts) EXPECT_GE(count, 1) << "seed " << seed;
  }
}

TEST(SetSplit, OneGroupOfALabelIsRefusedWithCounts) {
  auto files = files_of(2, 1, 5);
  const auto report = split_files(files, {}, 1);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().fault, Fault::usage);
  EXPECT_NE(report.error().what.find("'0' has 1 (5 files)"), std::string::npos) << report.error().what;
}

TEST(SetSplit, OneLabelIsRefused) {
  auto files = files_of(1, 5, 1);
  EXPECT_EQ(split_files(files, {}, 1).error().fault, Fault::usage);
}

TEST(SetSplit, PartsThatFilesHaveStay) {
  auto files = files_of(2, 10, 1);
  for (auto& file : files) file.part = SetPart::training;
  for (std::size_t i = 0; i < files.size(); i += 5) files[i].part = SetPart::testing;
  const auto report = split_files(files, {}, 1);
  ASSERT_TRUE(report);
  for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(files[i].part == SetPart::testing, i % 5 == 0) << i;
  for (const auto& counts : report->files) EXPECT_GE(counts[1], 1) << "some of the training part validates";
}

TEST(LabelledBatches, EpochHasEveryRowOnceInAnOrderOfItsOwn) {
  auto batches = LabelledBatches::open({.rows = 100, .batch_size = 32, .epochs = 2, .seed = 1}, "").value();
  std::vector<std::vector<std::int64_t>> epochs(2);
  while (const auto batch = batches.next())
    epochs[static_cast<std::size_t>(batch->epoch)].insert(epochs[static_cast<std::size_t>(batch->epoch)].end(),
                                                          batch->rows().begin(), batch->rows().end());
  EXPECT_NE(epochs[0], epochs[1]);
  for (auto& epoch : epochs) {
    std::ranges::sort(epoch);
    std::vector<std::int64_t> all(100);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(epoch, all);
  }
}

TEST(LabelledBatches, PositionGoesOnWithTheNextRow) {
  const LabelledBatchOptions options{.rows = 50, .batch_size = 8, .epochs = 3, .seed = 4};
  auto whole = LabelledBatches::open(options, "").value();
  for (int i = 0; i < 6; ++i) whole.next();
  const auto last = whole.next();
  auto resumed = LabelledBatches::open(options, last->position).value();
  for (;;) {
    const auto expected = whole.next(), found = resumed.next();
    ASSERT_EQ(expected.has_value(), found.has_value());
    if (!expected) break;
    EXPECT_EQ(expected->rows(), found->rows());
    EXPECT_EQ(expected->index, found->index);
  }
}

TEST(LabelledBatches, RowsOfLikeLengthShareABatch) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t row = 0; row < 500; ++row) lengths.push_back(row * 7919 % 1000);
  const LabelledBatchOptions options{.rows = 500, .batch_size = 8, .epochs = 2, .seed = 3, .lengths = lengths};
  auto batches = LabelledBatches::open(options, "").value();
  std::vector<int> seen(500, 0);
  std::int64_t longest = 0, all = 0;
  std::vector<std::int64_t> first_of_batches;
  while (const auto batch = batches.next()) {
    ASSERT_LE(std::ssize(batch->rows()), 8);
    std::int64_t most = 0;
    for (const auto row : batch->rows()) {
      ++seen[static_cast<std::size_t>(row)];
      all += lengths[static_cast<std::size_t>(row)];
      most = std::max(most, lengths[static_cast<std::size_t>(row)]);
    }
    longest += most * std::ssize(batch->rows());
    first_of_batches.push_back(lengths[static_cast<std::size_t>(batch->rows().front())]);
  }
  for (const int times : seen) EXPECT_EQ(times, 2);
  EXPECT_LT(static_cast<double>(longest), 1.2 * static_cast<double>(all)) << "padding";
  EXPECT_FALSE(std::is_sorted(first_of_batches.begin(), first_of_batches.begin() + 8)) << "short ones first";

  auto whole = LabelledBatches::open(options, "").value();
  for (int i = 0; i < 10; ++i) whole.next();
  auto resumed = LabelledBatches::open(options, whole.next()->position).value();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(whole.next()->rows(), resumed.next()->rows());
}

TEST(LabelledBatches, PositionOfAnotherSetIsRefused) {
  auto batches = LabelledBatches::open({.rows = 50, .batch_size = 8, .fingerprint = 1}, "").value();
  const auto position = batches.next()->position;
  const auto other = LabelledBatches::open({.rows = 50, .batch_size = 8, .fingerprint = 2}, position);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().fault, Fault::usage);
  const auto fewer = LabelledBatches::open({.rows = 4, .batch_size = 8, .fingerprint = 2}, position);
  ASSERT_FALSE(fewer) << "a position behind its end";
  EXPECT_EQ(fewer.error().fault, Fault::usage);
  EXPECT_NE(fewer.error().what.find("other files or labels"), std::string::npos) << fewer.error().what;
}

TEST(LabelledBatches, SmallSetsGetSmallerBatches) {
  EXPECT_EQ(batch_of(3'165'040, 8192, 20), 8192);
  EXPECT_EQ(batch_of(1890, 8192, 20), 95);
  EXPECT_EQ(batch_of(5, 8192, 20), 1);
}
