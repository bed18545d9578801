#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "base/file_lock.h"
#include "base/files.h"
#include "prepare/synthetic/leak_folder.h"
#include "prepare/synthetic/morse_folder.h"
#include "support/small_files.h"
#include "support/temp_folder.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

MorseFolder folder_of(const std::filesystem::path& out, std::int64_t count) {
  MorseFolder wanted;
  wanted.out = out;
  wanted.count = count;
  wanted.corpus.condition = Condition::clean;
  return wanted;
}

/// Every file below a folder, by its name in it.
std::map<std::string, std::string> files_in(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(folder).string()] = *read_file(entry.path());
  return files;
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(MorseFolder, HoldsTheNotesLayout) {
  const TempFolder folder;
  const auto report = write_morse_folder(folder_of(folder.path(), 30));
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->clips, 30);
  auto files = files_in(folder.path());
  EXPECT_TRUE(files["metadata.csv"].starts_with(
      "id,audio_file,text,contest_type,sample_type,wpm,condition,duration\nmorse_000000,morse_000000.wav,"));
  EXPECT_EQ(lines_in(files["metadata.csv"]), 31U);
  EXPECT_EQ(lines_in(files["splits/train.csv"]) + lines_in(files["splits/validation.csv"]) +
                lines_in(files["splits/test.csv"]),
            33U);
  EXPECT_GE(lines_in(files["splits/train_transcripts.txt"]), 22U);
  EXPECT_EQ(files.count("audio/morse_000029.wav"), 1U);
  const auto times = read_transcript_json(files["transcripts/morse_000000.json"]);
  ASSERT_TRUE(times);
  EXPECT_NE(files["metadata.csv"].find("," + times->text + ","), std::string::npos);
}

TEST(LeakFolder, HasTheSameFilesAndLinesWithAnyNumberOfThreads) {
  const TempFolder one, four;
  LeakFolder wanted{.count = 10, .out = one.path()};
  const auto report = write_leak_folder(wanted);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->clips, 10);
  auto files = files_in(one.path());
  EXPECT_EQ(files.size(), 11U) << "a file a clip, and the list";
  EXPECT_EQ(lines_in(files["metadata.csv"]), 11U);
  for (const auto& [name, bytes] : files)
    EXPECT_TRUE(name == "metadata.csv" || files["metadata.csv"].find("\n" + name + ",") != std::string::npos) << name;
  wanted.out = four.path();
  wanted.threads = 4;
  ASSERT_TRUE(write_leak_folder(wanted));
  EXPECT_EQ(files_in(four.path()), files);
  const auto again = write_leak_folder(wanted);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, Fault::usage) << "it holds a corpus already";
}

TEST(MorseFolder, CharacterTimesAreWrittenOnRequest) {
  const TempFolder by_word, by_character;
  MorseFolder wanted = folder_of(by_word.path(), 8);
  ASSERT_TRUE(write_morse_folder(wanted));
  wanted.out = by_character.path();
  wanted.letter_times = true;
  ASSERT_TRUE(write_morse_folder(wanted));
  auto words = files_in(by_word.path()), characters = files_in(by_character.path());
  std::size_t checked = 0;
  for (const auto& [name, json] : words) {
    if (!name.starts_with("transcripts/")) continue;
    const auto coarse = read_transcript_json(json), fine = read_transcript_json(characters[name]);
    ASSERT_TRUE(coarse && fine);
    for (std::size_t i = 0; i < coarse->segments.size(); ++i) {
      std::string text;
      double last = 0;
      for (const Word& character : fine->segments[i].words) {
        text += character.word;
        EXPECT_GT(character.start, last);
        EXPECT_GT(character.end, character.start);
        last = character.end;
        ++checked;
      }
      EXPECT_EQ(text, fine->segments[i].text);
      EXPECT_EQ(fine->segments[i].words.front().start, coarse->segments[i].words.front().start);
      EXPECT_EQ(last, coarse->segments[i].words.back().end);
    }
  }
  EXPECT_GT(checked, 30U);
}

TEST(MorseFolder, IsTheSameWithAnyNumberOfThreads) {
  const TempFolder one, many;
  MorseFolder wanted = folder_of(one.path(), 20);
  ASSERT_TRUE(write_morse_folder(wanted));
  wanted.out = many.path();
  wanted.threads = 7;
  ASSERT_TRUE(write_morse_folder(wanted));
  EXPECT_EQ(files_in(one.path()), files_in(many.path()));
}

TEST(MorseFolder, DoesNotWriteOverACorpus) {
  const TempFolder folder;
  ASSERT_TRUE(write_morse_folder(folder_of(folder.path(), 2)));
  EXPECT_EQ(write_morse_folder(folder_of(folder.path(), 2)).error().fault, Fault::usage);
}

TEST(MorseFolder, OneProcessAtATimeWritesIntoIt) {
  const TempFolder folder;
  {
    const auto other = take_hold({.file = folder / "synth.lock"});
    ASSERT_TRUE(other) << other.error().text();
    const auto refused = write_morse_folder(folder_of(folder.path(), 2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::refused);
    EXPECT_NE(refused.error().what.find(folder.path().string() + ": another process"), std::string::npos);
    EXPECT_FALSE(read_file(folder / "audio/morse_000000.wav")) << "not a clip is touched";
  }
  ASSERT_TRUE(write_morse_folder(folder_of(folder.path(), 2))) << "a killed process leaves the file";
  EXPECT_FALSE(std::filesystem::exists(folder / "synth.lock")) << "it is no part of the corpus";
}

struct Wav {
  std::uint32_t rate = 0;
  std::vector<std::int16_t> pcm{};
};

/// Of the folder's first clip.
Wav wav_in(const TempFolder& folder) {
  constexpr std::size_t kRateAt = 24, kHeader = 44;
  const auto bytes = read_file(folder / "audio/morse_000000.wav").value();
  Wav wav;
  std::memcpy(&wav.rate, bytes.data() + kRateAt, sizeof wav.rate);
  wav.pcm.resize((bytes.size() - kHeader) / sizeof(std::int16_t));
  std::memcpy(wav.pcm.data(), bytes.data() + kHeader, wav.pcm.size() * sizeof(std::int16_t));
  return wav;
}

TEST(MorseFolder, ALowerRateHoldsTheSameAudioInFewerSamples) {
  const TempFolder whole, half;
  auto wanted = folder_of(whole.path(), 1);
  ASSERT_TRUE(write_morse_folder(wanted));
  wanted.out = half.path();
  wanted.rate = Hertz{8000};
  ASSERT_TRUE(write_morse_folder(wanted));
  const auto expected = wav_in(whole), found = wav_in(half);
  EXPECT_EQ(found.rate, 8000U);
  ASSERT_EQ(found.pcm.size(), expected.pcm.size() / 2);
  double apart = 0, power = 0;
  for (std::size_t i = 0; i < found.pcm.size(); ++i) {
    apart += std::pow(found.pcm[i] - expected.pcm[2 * i], 2);
    power += std::pow(found.pcm[i], 2);
  }
  EXPECT_LT(apart, 0.02 * power) << "tones lie far below 4 kHz; of the noise, half is gone";
}

TEST(MorseFolder, WritesFlacOnRequest) {
  const TempFolder folder;
  MorseFolder wanted = folder_of(folder.path(), 2);
  wanted.format = AudioFormat::flac;
  ASSERT_TRUE(write_morse_folder(wanted));
  EXPECT_TRUE(read_file(folder / "audio/morse_000001.flac")->starts_with("fLaC"));
}

TEST(MorseFolder, FileSizeLimitIsReportedForEveryFormat) {
  for (const AudioFormat format : {AudioFormat::wav, AudioFormat::flac}) {
    const TempFolder folder;
    MorseFolder wanted = folder_of(folder.path(), 1);
    wanted.format = format;
    const SmallFiles limit(4096);
    const auto written = write_morse_folder(wanted);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().fault, Fault::refused);
    EXPECT_NE(written.error().text().find("ulimit -f"), std::string::npos) << written.error().text();
    EXPECT_NE(written.error().what.find("morse_"), std::string::npos) << written.error().text();
  }
}

}  // namespace
}  // namespace tutti
