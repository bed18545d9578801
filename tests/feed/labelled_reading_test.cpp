// Labels, parts and silence of sets of labelled audio, as people have them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "audio/samples.h"
#include "base/files.h"
#include "base/random/counter_random.h"
#include "feed/labelled/audio_reading.h"
#include "feed/labelled/labelled_files.h"
#include "feed/labelled/labelled_set.h"
#include "feed/labelled/set_builder.h"
#include "support/temp_folder.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

namespace {

namespace fs = std::filesystem;

/// Noise, another for each name, between `silence` seconds of zeros and `behind` of them.
void write_noise(const fs::path& path, double seconds = 0.25, double silence = 0, double behind = 0) {
  constexpr int kRate = 4000;
  CounterRandom random({digest(path.string())});
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(silence * kRate));
  for (int i = 0; i < static_cast<int>(seconds * kRate); ++i)
    pcm.push_back(static_cast<std::int16_t>(random.uniform(-9000, 9000)));
  pcm.resize(pcm.size() + static_cast<std::size_t>(behind * kRate));
  fs::create_directories(path.parent_path());
  write_wav(path, pcm, kRate);
}

/// A folder with recordings FOLDER/0.wav and so on.
class Sounds : public testing::Test {
 protected:
  void add(const std::string& label, int files = 4) {
    for (int i = 0; i < files; ++i) write_noise(folder_ / ("data/" + label + "/" + std::to_string(i) + ".wav"));
  }
  Result<SetBuildReport> build(const fs::path& data, SetBuildOptions options = {}) {
    options.data = data;
    options.out = folder_ / "set";
    return build_labelled_set(options, [](std::int64_t, std::int64_t) { return true; });
  }
  Result<SetBuildReport> build() { return build(folder_ / "data"); }
  TempFolder folder_{};
};

}  // namespace

TEST_F(Sounds, LabelsThatAreReadAlikeAreOne) {
  const std::string composed =
                        "cr\xC3\xA9"
                        "ak",
                    decomposed =
                        "cre\xCC\x81"
                        "ak";
  for (const auto& [first, second, merged] : {std::tuple<std::string, std::string, std::string>("leak", "Leak", "leak"),
                                              {"leak", "leak ", "leak"},
                                              {composed, decomposed, composed},
                                              {"water leak", "Water  leak", "water leak"}}) {
    fs::remove_all(folder_ / "data");
    add(first, 5);
    add(second, 4);
    add("quiet", 5);
    const auto report = build();
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_THAT(report->split.labels, UnorderedElementsAre(merged, "quiet"));
    EXPECT_THAT(report->split.groups, UnorderedElementsAre(9, 5));
    ASSERT_EQ(report->merged_labels.size(), 1U);
    EXPECT_THAT(report->merged_labels[0], HasSubstr("'" + first + "'"));
    EXPECT_THAT(report->merged_labels[0], HasSubstr("with 4 files"));
  }
}

TEST(LabelNames, CaseIsFoldedAndWhatDoesNotShowIsLeftOut) {
  for (const auto& [first, second] : {std::pair("stra\xC3\x9F"
                                                "e",
                                                "STRASSE"),
                                      {"leak", "leak\xE2\x80\x8B"},
                                      {"\xCF\x83\xCF\x86\xCE\xAC\xCE\xBB\xCE\xBC\xCE\xB1\xCF\x82",
                                       "\xCE\xA3\xCE\xA6\xCE\x86\xCE\x9B\xCE\x9C\xCE\x91\xCE\xA3"},
                                      {"water\xC2\xA0leak", "Water leak"},
                                      {"hi-hat", "hi\xE2\x80\x91hat"}}) {
    std::vector<LabelledFile> files{{.label = first}, {.label = first}, {.label = second}};
    ASSERT_EQ(merge_like_labels(files).size(), 1U) << second;
    EXPECT_EQ(files[2].label, files[0].label);
  }
  std::vector<LabelledFile> files{{.label = "leak"}, {.label = "leak\xE2\x80\x8B"}};
  EXPECT_THAT(merge_like_labels(files)[0], HasSubstr("(with characters that do not show) with 1 file"));
}

TEST(LabelNames, OnlyLabelsOfOneSpellingStayAsTheyAre) {
  std::vector<LabelledFile> files{{.label = "Leak "},
                                  {.label = "cre\xCC\x81"
                                            "ak"},
                                  {.label = "LEAKS"}};
  EXPECT_TRUE(merge_like_labels(files).empty());
  EXPECT_EQ(files[0].label, "Leak ");
  EXPECT_EQ(files[1].label,
            "cre\xCC\x81"
            "ak");
}

TEST_F(Sounds, FoldersOfPartsWithoutTrainingAreRefused) {
  for (const auto& parts :
       {std::vector<std::string>{"test", "valid"}, {"validation"}, {"Test", "dev"}, {"evaluation", "development"}}) {
    fs::remove_all(folder_ / "data");
    for (const auto& part : parts)
      for (const char* label : {"/pump", "/valve"}) add(part + label);
    const auto report = build();
    ASSERT_FALSE(report) << parts.front();
    EXPECT_EQ(report.error().fault, Fault::usage);
    EXPECT_THAT(report.error().what, HasSubstr("expected a folder 'train' beside '"));
    for (const auto& part : parts) EXPECT_THAT(report.error().what, HasSubstr("'" + part + "'"));
  }
  const auto alone = build(folder_ / "data/evaluation");
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_THAT(alone->split.labels, ElementsAre("pump", "valve"));
}

TEST_F(Sounds, EvaluationIsForTestingAndOtherFoldersAreNamed) {
  for (const char* label : {"training/a", "training/b", "dev/a", "evaluation/b", "unsorted/day 1"}) add(label);
  const auto report = build();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_THAT(report->split.labels, ElementsAre("a", "b"));
  const auto& files = report->split.files;
  EXPECT_EQ(files[0][2], 0);
  EXPECT_GT(files[1][2], 0);
  ASSERT_EQ(report->unread.size(), 1U);
  EXPECT_THAT(report->unread[0], HasSubstr("'unsorted' with " + std::to_string(report->others) + " recording"));
  EXPECT_THAT(warnings_of(*report).front(), HasSubstr("left out: the folder 'unsorted'"));
}

TEST_F(Sounds, PartsBesideTheirLabelsAreRefused) {
  for (const char* label : {"leak", "quiet", "test/leak", "test/quiet"}) add(label);
  const auto report = build();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().what, HasSubstr("beside 'test'"));
}

TEST_F(Sounds, LabelsMayBeCalledLikeParts) {
  for (const char* label : {"test", "train", "car"}) add(label);
  auto report = build();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_THAT(report->split.labels, ElementsAre("car", "test", "train"));
  fs::remove_all(folder_ / "data");
  for (const char* label : {"test/day 1", "test/day 2", "leak/day 1"}) add(label);
  report = build();
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_THAT(report->split.labels, ElementsAre("leak", "test"));
}

TEST_F(Sounds, FilesThatAreNotThereAreNotCalledUnreadable) {
  ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", "path,label\na.wav,x\nb.wav,y\n"));
  const auto report = build(folder_ / "list.csv");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().fault, Fault::missing);
  EXPECT_THAT(report.error().text(),
              HasSubstr("not one of the 2 files is there; the first: " + (folder_ / "a.wav").string()));
  EXPECT_THAT(report.error().text(), HasSubstr("or at root"));
}

TEST_F(Sounds, LabelWithoutAFileToLearnFromHasNoneInTheReport) {
  for (const char* label : {"train/pump", "train/valve", "validation/pump", "validation/siren"}) add(label);
  const auto report = build();
  ASSERT_TRUE(report) << report.error().text();
  ASSERT_THAT(report->split.labels, ElementsAre("pump", "siren", "valve"));
  EXPECT_EQ(report->split.files[1][0], 0);
}

TEST_F(Sounds, ListsOfLabelsAreReadAsListsOfTexts) {
  for (int i = 0; i < 4; ++i) write_noise(folder_ / ("wavs/" + std::to_string(i) + ".wav"));
  for (const std::string list :
       {"path,label\rwavs/0.wav,leak\rwavs/1.wav,leak\r./wavs/2.wav,quiet\rwavs/3.wav,quiet\r",
        "# a comment\n\nwavs/0.wav|leak\nwavs/1.wav | leak\n2|quiet\nwavs\\3.wav|quiet\n",
        "File Name;Class Name\n0.wav;leak\n1.wav;leak\n2.wav;quiet\n3.wav;quiet\n;\n",
        "wavs/0.wav\tleak\ttrain\nwavs/1.wav\tleak\tdev\nwavs/2.wav\tquiet\ttrain\nwavs/3.wav\tquiet\tdev\n"}) {
    ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", list));
    const auto found = find_labelled_files(folder_ / "list.csv");
    ASSERT_TRUE(found) << list << found.error().text();
    ASSERT_EQ(found->files.size(), 4U) << list;
    std::map<std::string, std::string> labels;
    for (const auto& file : found->files) {
      EXPECT_TRUE(is_there(file.path)) << file.path;
      labels[file.path.stem().string()] = file.label;
    }
    EXPECT_EQ(labels,
              (std::map<std::string, std::string>{{"0", "leak"}, {"1", "leak"}, {"2", "quiet"}, {"3", "quiet"}}))
        << list;
    EXPECT_EQ(found->files[0].part != SetPart::none, list.find("dev") != list.npos);
  }
}

TEST_F(Sounds, MissingFilesOfAListAreLeftOutAlone) {
  write_noise(folder_ / "a.wav");
  for (const char* list : {"path,label\na.wav,x\ngone.wav,y\n", "a.wav|x\ngone.wav|y\n"}) {
    ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", list));
    const auto found = find_labelled_files(folder_ / "list.csv");
    ASSERT_TRUE(found) << list << found.error().text();
    ASSERT_EQ(found->files.size(), 2U);
    EXPECT_EQ(found->files[1].path, folder_ / "gone.wav");
  }
}

TEST_F(Sounds, LabelsOfAListKeepTheirCharacters) {
  ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", "path,label\na.wav,Ger\xE4usch\nb.wav,still\n"));
  const auto found = find_labelled_files(folder_ / "list.csv");
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->files[0].label, "Geräusch");
  ASSERT_TRUE(write_file_atomically(folder_ / "list.csv", "path,label\na.wav,\xF8\xF3\xEC\nb.wav,\xF2\xE8\xF5\xEE\n"));
  const auto other = find_labelled_files(folder_ / "list.csv");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().text(), HasSubstr("list.csv:2: its speaker or label is not UTF-8"));
}

TEST(ClipStart, ClipBeginsWhereAudioIs) {
  constexpr Hertz kRate{4000};
  const auto start = [&](std::vector<std::pair<double, bool>> stretches, double clip) {
    std::vector<float> samples;
    for (const auto& [seconds, is_audio] : stretches)
      for (int i = 0; i < static_cast<int>(seconds * kRate.value); ++i)
        samples.push_back(is_audio ? 1e-3F * static_cast<float>(i % 7) : 0.25F);
    return static_cast<double>(start_of_clip(samples, static_cast<std::int64_t>(clip * kRate.value), kRate)) /
           kRate.value;
  };
  EXPECT_EQ(start({{11, false}, {1, true}}, 10), 11);
  EXPECT_EQ(start({{11, false}, {30, true}}, 10), 11);
  EXPECT_EQ(start({{9, false}, {30, true}}, 10), 9) << "a second of audio would be in the clip";
  EXPECT_EQ(start({{0.1, true}, {20, false}, {3, true}, {9, false}}, 10), 20.1);
  EXPECT_EQ(start({{0.1, false}, {30, true}}, 10), 0) << "codecs begin so";
  EXPECT_EQ(start({{4, false}, {30, true}}, 10), 0) << "more than half of it is audio";
  EXPECT_EQ(start({{3, true}, {30, false}}, 10), 0) << "nowhere is more";
  EXPECT_EQ(start({{9, false}, {1, true}}, 10), 0) << "all of it is taken";
  EXPECT_EQ(start({{30, false}}, 10), 0);
}

TEST_F(Sounds, NoClipIsTheSilenceBeforeItsAudio) {
  for (int i = 0; i < 4; ++i) {
    write_noise(folder_ / ("data/early/" + std::to_string(i) + ".wav"), 1, 0, 11);
    write_noise(folder_ / ("data/late/" + std::to_string(i) + ".wav"), 1, 11);
  }
  const auto report = build(folder_ / "data", {.seconds = Seconds(10), .waveforms = true});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->moved, 4);
  EXPECT_EQ(report->cut, 4);
  EXPECT_EQ(report->padded, 0);
  const auto set = LabelledSet::open(set_file(folder_ / "set", SetPart::training));
  ASSERT_TRUE(set) << set.error().text();
  const auto values = static_cast<std::size_t>(report->geometry.values());
  for (std::int64_t file = 0; file < (*set)->files(); ++file) {
    const auto mel = (*set)->mel().subspan(static_cast<std::size_t>(file) * values, values);
    EXPECT_NE(std::ranges::min(mel), std::ranges::max(mel)) << (*set)->name_of_file(file);
  }
}

TEST(ClipStart, ClipsAreSpreadOverTheRecordingWithoutItsSilence) {
  constexpr Hertz kRate{1000};
  std::vector<float> samples;
  for (int i = 0; i < 20'000; ++i) samples.push_back(i < 12'000 ? 1e-3F * static_cast<float>(i % 7) : 0.25F);
  using Starts = std::vector<std::int64_t>;
  const std::span<const float> audible = std::span(samples).first(10'000);
  EXPECT_EQ(starts_of_clips(audible, 2000, kRate, 5), (Starts{0, 2000, 4000, 6000, 8000}));
  EXPECT_EQ(starts_of_clips(audible, 4000, kRate, 3), (Starts{0, 3000, 6000})) << "the last one ends where it does";
  EXPECT_EQ(starts_of_clips(samples, 2000, kRate, 10), (Starts{0, 2000, 4000, 6000, 8000, 10'000}));
  EXPECT_EQ(starts_of_clips(audible, 10'000, kRate, 5), (Starts{0}));
  EXPECT_EQ(starts_of_clips(audible, 4000, kRate, 1), (Starts{0}));
  EXPECT_EQ(clips_in(19'500, 10'000), 2);
  EXPECT_EQ(clips_in(14'000, 10'000), 1);
}
