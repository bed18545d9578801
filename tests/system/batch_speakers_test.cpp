// `tutti batch` with who speaks, on emulated devices: one speaker a channel needs no network.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "support/test_data.h"
#include "system/batch_runs.h"

using namespace tutti;
using testing::HasSubstr;
using testing::Not;

namespace {

/// A recording of two speakers: the left channel speaks first, then the right one.
class BatchSpeakersTest : public BatchTest {
 protected:
  void SetUp() override {
    const auto wav = read_file(test_data() / "speech/ljspeech/wavs/LJ001-0004.wav");  // 5 s, 16 bits
    ASSERT_TRUE(wav) << wav.error().text();
    const std::size_t begin = wav->find("data") + 8;
    std::vector<std::int16_t> mono((wav->size() - begin) / sizeof(std::int16_t));
    std::memcpy(mono.data(), wav->data() + begin, mono.size() * sizeof(std::int16_t));
    std::vector<std::int16_t> both;
    for (const bool left : {true, false})
      for (const std::int16_t sample : mono) {
        both.push_back(left ? sample : std::int16_t{0});
        both.push_back(left ? std::int16_t{0} : sample);
      }
    fs::create_directories(in_);
    ASSERT_TRUE(write_file_atomically(in_ / "talk.wav", stereo(both)));
  }

  ProgramEnd batch(std::vector<std::string> more = {}) const {
    for (const char* word : {"--diarize", "--speakers-from", "stereo", "--word-timestamps", "True", "-f", "all"})
      more.emplace_back(word);
    return BatchTest::batch("emulated:200x", std::move(more));
  }

  ProgramEnd rename(const std::string& names) const {
    return run_program({kTutti, "review", out("json"), "--state", (folder_ / "state").string(), "--names", names},
                       settings());
  }

  std::string out(const std::string& extension) const { return folder_ / "out" / ("talk.wav." + extension); }
  std::string text(const std::string& extension) const { return read_file(out(extension)).value_or("(missing)"); }

 private:
  static std::string stereo(const std::vector<std::int16_t>& samples) {
    const auto number = [](std::uint32_t value, std::size_t bytes) {
      return std::string(reinterpret_cast<const char*>(&value), bytes);
    };
    const auto bytes = static_cast<std::uint32_t>(2 * samples.size());
    std::string wav = "RIFF" + number(36 + bytes, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) + number(2, 2) +
                      number(22050, 4) + number(88200, 4) + number(4, 2) + number(16, 2) + "data" + number(bytes, 4);
    return wav.append(reinterpret_cast<const char*>(samples.data()), bytes);
  }
};

}  // namespace

TEST_F(BatchSpeakersTest, ReplacedWordsHaveTheirSpeakersInEveryFormat) {
  ASSERT_EQ(batch().exit_code, 0);
  const json before = json::parse(text("json"));
  const std::string last = before["segments"].back()["words"].front()["word"];
  const std::string word = last.substr(last.find_first_not_of(' '));
  ASSERT_TRUE(write_file_atomically(folder_ / "names.tsv", word + "\tTutti Frutti\n"));
  const auto end = batch({"--replace", (folder_ / "names.tsv").string()});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_GE(report()["replacements_in_this_run"], 1);
  for (const char* extension : {"txt", "srt", "vtt", "json"}) {
    EXPECT_THAT(text(extension), HasSubstr("Tutti Frutti")) << extension;
    EXPECT_THAT(text(extension), HasSubstr("SPEAKER_00")) << extension;
    EXPECT_THAT(text(extension), HasSubstr("SPEAKER_01")) << extension;
  }
  const json segments = json::parse(text("json"))["segments"];
  EXPECT_EQ(segments.size(), before["segments"].size()) << "split at the same places";
  for (const json& segment : segments)
    for (const json& one : segment["words"]) EXPECT_EQ(one["speaker"], segment["speaker"]) << one;
}

TEST_F(BatchSpeakersTest, RenamedOutputsAreTheStoresStill) {
  ASSERT_EQ(batch().exit_code, 0);
  const std::string edited = text("srt") + "\n";
  ASSERT_TRUE(write_file_atomically(out("srt"), edited));
  const auto end = rename("SPEAKER_00=Anna");
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_THAT(end.err, HasSubstr("talk.wav.srt: not as Tutti wrote it"));
  EXPECT_EQ(text("srt"), edited);
  for (const char* extension : {"txt", "vtt", "json"}) {
    EXPECT_THAT(text(extension), HasSubstr("Anna")) << extension;
    EXPECT_THAT(text(extension), HasSubstr("SPEAKER_01")) << extension;
    EXPECT_THAT(text(extension), Not(HasSubstr("SPEAKER_00"))) << extension;
  }
  const std::string named = text("txt");
  fs::remove(out("srt"));  // so that it is done again
  ASSERT_EQ(batch().exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 1);
  EXPECT_THAT(text("txt"), HasSubstr("SPEAKER_00")) << "an unedited file is replaced";
  EXPECT_FALSE(fs::exists(out("new.txt")));
  EXPECT_EQ(rename("SPEAKER_00=Anna").exit_code, 0);
  EXPECT_EQ(text("txt"), named);
  ASSERT_EQ(batch().exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0) << "renamed ones are done";
  EXPECT_EQ(text("txt"), named);
}
