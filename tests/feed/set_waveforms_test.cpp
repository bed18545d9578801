// The waveforms that a set's features were made of.

#include "feed/labelled/set_waveforms.h"

#include <gtest/gtest.h>

#include <cmath>

#include "feed/hdf5/hdf5_file.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// A tone of its own for each file, of one and a half clips: what is longer than a clip is cut.
std::vector<float> tone(const AudioGeometry& geometry, std::size_t file) {
  std::vector<float> samples(static_cast<std::size_t>(geometry.clip_samples * 3 / 2));
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = 0.5F * std::sin(0.01F * static_cast<float>((file + 1) * i));
  return samples;
}

/// A testing part of three files, with waveforms.
struct PartWithWaveforms {
  explicit PartWithWaveforms(AudioGeometry of = leak_geometry()) : geometry(std::move(of)) {
    const ClipFeatureMaker maker(geometry);
    for (std::size_t i = 0; i < 3; ++i) {
      clips.push_back(maker.compute(tone(geometry, i)));
      const auto name = "LEAK/" + std::to_string(i) + ".wav";
      rows.push_back({name, name, static_cast<std::int16_t>(i % 2), row_checksum(name, clips[i].mel),
                      row_checksum(name, clips[i].waveform)});
    }
  }
  LabelledPart part() const {
    return {.geometry = geometry,
            .labels = labels,
            .rows = rows,
            .mel = [this](std::size_t row) { return std::span(clips[row].mel); },
            .waveform = [this](std::size_t row) { return std::span(clips[row].waveform); }};
  }
  void write_features(const std::filesystem::path& set) const {
    ASSERT_TRUE(write_labelled_part(set_file(set, SetPart::testing), part()));
  }
  void write_waveforms(const std::filesystem::path& set) const {
    ASSERT_TRUE(write_waveform_part(waveform_file(set, SetPart::testing), part()));
  }

  AudioGeometry geometry;
  std::vector<std::string> labels{"LEAK", "NORMAL"};
  std::vector<ClipFeatures> clips{};
  std::vector<LabelledRow> rows{};
};

Result<std::optional<SetWaveforms>> open_testing(const std::filesystem::path& set) {
  const auto features = LabelledSet::open(set_file(set, SetPart::testing));
  EXPECT_TRUE(features) << features.error().text();
  return SetWaveforms::open(set, SetPart::testing, **features);
}

}  // namespace

TEST(SetWaveforms, ClipsComeBackFromSegmentsThatOverlapOrNot) {
  for (const auto& geometry : {leak_geometry(), overlapping_leak_geometry()}) {
    const TempFolder folder;
    const PartWithWaveforms part(geometry);
    part.write_features(folder.path());
    part.write_waveforms(folder.path());
    const auto waveforms = open_testing(folder.path());
    ASSERT_TRUE(waveforms && *waveforms) << geometry.name;
    for (std::int64_t file = 0; file < 3; ++file) {
      auto expected = tone(geometry, static_cast<std::size_t>(file));
      expected.resize(static_cast<std::size_t>(geometry.clip_samples));
      EXPECT_EQ((*waveforms)->clip(file).value(), expected) << geometry.name << file;
    }
  }
}

TEST(SetWaveforms, FileHasTheNamesAndShapesOfTheNote) {
  const TempFolder folder;
  PartWithWaveforms().write_waveforms(folder.path());
  const auto file = Hdf5File::open(folder / "TESTING_WAVEFORMS.H5");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->dataset("segments_waveform")->text(), "float32 [3, 40, 2, 512]");
  EXPECT_EQ(file->dataset("labels")->text(), "int16 [3]");
  EXPECT_EQ(file->attribute("labels_json").value(), "[\"LEAK\",\"NORMAL\"]");
}

TEST(SetWaveforms, SetWithoutWaveformsHasNone) {
  const TempFolder folder;
  PartWithWaveforms().write_features(folder.path());
  const auto waveforms = open_testing(folder.path());
  ASSERT_TRUE(waveforms) << waveforms.error().text();
  EXPECT_FALSE(*waveforms);
}

TEST(SetWaveforms, SharedBuffersAreNoticedAndNothingAppears) {
  const TempFolder folder;
  const PartWithWaveforms part;
  auto shared = part.part();
  shared.waveform = [&](std::size_t) { return std::span(part.clips[2].waveform); };
  const auto written = write_waveform_part(folder / "TESTING_WAVEFORMS.H5", shared);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().what.find("row 0 does not hold the waveform of LEAK/0.wav"), std::string::npos)
      << written.error().what;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SetWaveforms, WaveformsOfAnotherSetAreRefused) {
  const TempFolder folder;
  PartWithWaveforms part;
  part.write_waveforms(folder.path());
  std::swap(part.rows[0], part.rows[1]);
  std::swap(part.clips[0], part.clips[1]);
  part.write_features(folder.path());
  const auto waveforms = open_testing(folder.path());
  ASSERT_FALSE(waveforms);
  EXPECT_EQ(waveforms.error().fault, Fault::usage);
}

TEST(SetWaveforms, NotesBuilderPutsThemBesideTheFeatures) {
  const TempFolder folder;
  const PartWithWaveforms part;
  {
    auto file = Hdf5File::create(set_file(folder.path(), SetPart::testing));
    ASSERT_TRUE(file);
    const std::vector<std::int16_t> labels(1);
    const auto& clip = part.clips[0];
    ASSERT_TRUE(
        file->write("segments_waveform", Hdf5Type::f32, {1, 40, 2, 512}, std::as_bytes(std::span(clip.waveform))));
    ASSERT_TRUE(file->write("segments_mel", Hdf5Type::f16, {1, 40, 2, 64, 1}, std::as_bytes(std::span(clip.mel))));
    ASSERT_TRUE(file->write("labels", Hdf5Type::i16, {1}, std::as_bytes(std::span(labels))));
    ASSERT_TRUE(file->write_attribute("config_json", show_geometry(part.geometry)));
    ASSERT_TRUE(file->write_attribute("labels_json", "[\"LEAK\",\"NORMAL\"]"));
    ASSERT_TRUE(file->close());
  }
  const auto waveforms = open_testing(folder.path());
  ASSERT_TRUE(waveforms && *waveforms);
  EXPECT_EQ((*waveforms)->clip(0).value(), clip_of(part.geometry, part.clips[0].waveform));
}
