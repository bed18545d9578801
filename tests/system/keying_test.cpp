// Long recordings of Morse: what is keyed is read whole, once, in every way through a file.

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "audio/synth/audio_file.h"
#include "audio/synth/band.h"
#include "audio/synth/disturbance.h"
#include "base/files.h"
#include "base/json.h"
#include "support/keyed_audio.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

constexpr double kMostErrors = 0.05;         // of characters, by models/nano
constexpr double kMostErrorsOfMorse = 0.03;  // by models/morse, without a flag

constexpr const char* kOvers[] = {
    "CQ CQ CQ DE DL1ABC DL1ABC DL1ABC K",
    "DL1ABC DE OH2XYZ OH2XYZ K",
    "OH2XYZ DE DL1ABC TNX CALL UR RST 599 599 NAME HANS HANS QTH KIEL KIEL HW? OH2XYZ DE DL1ABC K",
    "DL1ABC DE OH2XYZ R R TNX HANS UR RST 579 579 NAME OLE OLE QTH TURKU TURKU DL1ABC DE OH2XYZ K",
    "OH2XYZ DE DL1ABC FB OLE RIG K3 PWR 100 W ANT DIPOLE WX RAIN RAIN TEMP 12 C OH2XYZ DE DL1ABC K",
    "DL1ABC DE OH2XYZ FB HANS RIG FT817 PWR 5 W ANT VERT WX SNOW SNOW TU 73 73 DL1ABC DE OH2XYZ",
};

/// A contact of two stations, 20 and 24 words a minute, in noise 12 dB under them in 500 Hz: two and a half minutes.
/// `keyed` gets its words with their times.
std::string write_contact(const fs::path& file, std::vector<KeyedWord>* keyed_words = nullptr) {
  CounterRandom random(52);
  std::vector<float> audio(8000);
  std::string text;
  for (std::size_t i = 0; i < std::size(kOvers); ++i) {
    const KeyedText keyed = key_text(kOvers[i], {.wpm = i % 2 == 0 ? 20.0 : 24.0, .jitter = 0.05}, random);
    for (KeyedWord word : keyed.words) {
      const double from = static_cast<double>(audio.size()) / 16000 + 0.3;
      word.start += from;
      word.end += from;
      if (keyed_words) keyed_words->push_back(std::move(word));
    }
    std::vector<float> over(static_cast<std::size_t>((keyed.length() + 1.5) * 16000));
    add_tone(over, {.downs = keyed.downs, .start = 0.3, .hertz = i % 2 == 0 ? 620.0 : 640.0});
    audio.insert(audio.end(), over.begin(), over.end());
    text += (text.empty() ? "" : " ") + std::string(kOvers[i]);
  }
  add_noise(audio, kToneAmplitude * std::sqrt(0.5 * 16 / std::pow(10, 1.2)), 52);
  std::vector<std::int16_t> pcm;
  for (const float sample : audio) pcm.push_back(static_cast<std::int16_t>(std::lrint(sample * 16000)));
  EXPECT_TRUE(write_audio(file, pcm, AudioFormat::wav));
  return text;
}

/// The share of its characters that `text` has wrong.
double errors(const TempFolder& folder, const std::string& text, const std::string& found) {
  EXPECT_TRUE(write_file_atomically(folder / "sent.txt", text + "\n"));
  EXPECT_TRUE(write_file_atomically(folder / "found.txt", found + "\n"));
  const auto end = run_program({tutti_program(), "wer", "--json", "--normalizer", "none", "--ref",
                                (folder / "sent.txt").string(), "--hyp", (folder / "found.txt").string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  return nlohmann::json::parse(end.out).at("cer").get<double>();
}

std::string read_with(const TempFolder& folder, const fs::path& model, std::vector<std::string> flags) {
  std::vector<std::string> words{
      tutti_program(),           "transcribe", "--model", model.string(), "--beam-size", "None", "--output-dir",
      (folder / "out").string(), "-f",         "json",    "--quiet"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back((folder / "contact.wav").string());
  const auto end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto json = nlohmann::json::parse(read_file(folder / "out/contact.json").value());
  double last = 0;
  for (const auto& segment : json.at("segments")) {
    EXPECT_GE(segment.at("start").get<double>(), last - 0.5) << "text is in order";
    last = segment.at("end").get<double>();
  }
  return json.at("text").get<std::string>();
}

/// The share of the keyed words that the contact's transcript has within 0.3 s of where they begin and end.
double timed(const TempFolder& folder, const std::vector<KeyedWord>& keyed) {
  constexpr double kNear = 0.3;
  std::size_t near = 0;
  const auto json = nlohmann::json::parse(read_file(folder / "out/contact.json").value());
  for (const KeyedWord& word : keyed)
    for (const auto& segment : json.at("segments"))
      for (const auto& found : segment.at("words"))
        near += static_cast<std::size_t>(found.at("word").get<std::string>() == " " + word.text &&
                                         std::abs(found.at("start").get<double>() - word.start) < kNear &&
                                         std::abs(found.at("end").get<double>() - word.end) < kNear);
  return static_cast<double>(near) / static_cast<double>(keyed.size());
}

/// The final text of live captions.
std::string listened(const fs::path& model, const fs::path& file, const std::vector<std::string>& flags = {}) {
  std::vector<std::string> words{tutti_program(), "listen", "--model", model.string(), "--beam-size", "None", "--json"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.push_back(file.string());
  const auto end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  std::string text;
  std::istringstream lines(end.out);
  for (std::string line; std::getline(lines, line);)
    if (const auto event = nlohmann::json::parse(line); event.at("type") == "final")
      text += event.at("text").get<std::string>();
  return text;
}

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

const fs::path kNano = fs::path(TUTTI_SOURCE_DIR) / "models/nano";
const fs::path kMorse = fs::path(TUTTI_SOURCE_DIR) / "models/morse";

}  // namespace

TEST(KeyedRecording, ContactOfMinutesIsReadWholeInEveryWay) {
  const TempFolder folder;
  const std::string text = write_contact(folder / "contact.wav");
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--vad", "--vad-method", "keying"}, {"--batched", "--vad-method", "keying"}}) {
    const std::string found = read_with(folder, kNano, way);
    EXPECT_LE(errors(folder, text, found), kMostErrors) << way.front() << ": " << found;
    EXPECT_GE(times_in(found, "73"), 1U) << "its end is there";
  }
}

TEST(KeyedRecording, ModelOfMorseNeedsNoFlag) {
  const TempFolder folder;
  std::vector<KeyedWord> keyed;
  const std::string text = write_contact(folder / "contact.wav", &keyed);
  const std::string found = read_with(folder, kMorse, {});
  EXPECT_EQ(found, read_with(folder, kMorse, {"--vad", "--vad-method", "keying"}));
  EXPECT_EQ(found, read_with(folder, kMorse, {"--word-timestamps", "True"})) << "no window is read twice";
  EXPECT_GT(timed(folder, keyed), 0.85) << "words have the times of their marks";
  EXPECT_LE(errors(folder, text, found), kMostErrorsOfMorse) << found;
}

TEST(KeyedRecording, LiveCaptionsReadAContactAsItsTranscriptionDoes) {
  const TempFolder folder;
  const std::string text = write_contact(folder / "contact.wav");
  const std::string found = listened(kMorse, folder / "contact.wav");
  EXPECT_LE(errors(folder, text, found), kMostErrorsOfMorse) << found;
}

// One window with all of them would hold each call once.
TEST(KeyedRecording, TransmissionsApartAreEachRead) {
  const TempFolder folder;
  std::vector<std::int16_t> pcm;
  for (int i = 0; i < 4; ++i) {
    const auto made = keyed_audio("TEST K1AA", {.wpm = 30}, 30, 640, 1.5);  // 3 s from one to the next
    pcm.insert(pcm.end(), made.pcm.begin(), made.pcm.end());
  }
  ASSERT_TRUE(write_audio(folder / "contact.wav", pcm, AudioFormat::wav));
  EXPECT_EQ(times_in(read_with(folder, kMorse, {}), "TEST K1AA"), 4U);
  EXPECT_EQ(times_in(listened(kMorse, folder / "contact.wav"), "TEST K1AA"), 4U);
}

TEST(KeyedRecording, NamedStationIsReadBesideALouderOne) {
  const TempFolder folder;
  KeyedAudio made = keyed_audio("CQ DE DL1ABC DL1ABC K", {.wpm = 20, .jitter = 0.05}, 15, 640);
  made.add(keyed_text("TEST TEST DE OH2XYZ OH2XYZ TEST TEST DE", {.wpm = 24}), 740, 2);
  ASSERT_TRUE(write_audio(folder / "contact.wav", made.pcm, AudioFormat::wav));
  const std::vector<std::string> target{"--target-hz", "640"};
  EXPECT_EQ(times_in(read_with(folder, kMorse, {}), "DL1ABC"), 0U) << "the louder one is read";
  EXPECT_EQ(times_in(read_with(folder, kMorse, target), "DL1ABC"), 2U);
  EXPECT_EQ(times_in(listened(kMorse, folder / "contact.wav", target), "DL1ABC"), 2U);
  const auto refused = run_program({tutti_program(), "transcribe", "--model", kNano.string(), "--target-hz", "640",
                                    (folder / "contact.wav").string()});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("--target-hz: chooses the keyed tone"), std::string::npos) << refused.err;
}

TEST(KeyedRecording, ModelOfMorseReadsSpeechThatAnythingFinds) {
  const TempFolder folder;
  ASSERT_TRUE(
      write_audio(folder / "contact.wav", keyed_audio("CQ DE DL1ABC DL1ABC K", {.wpm = 20}, 20).pcm, AudioFormat::wav));
  for (const std::vector<std::string>& way : {std::vector<std::string>{"--vad-method", "keying"},
                                              {"--batched", "--vad-method", "energy"},
                                              {"--vad-method", "energy"}})
    EXPECT_GE(times_in(read_with(folder, kMorse, way), "DL1ABC"), 1U) << way.front() << " " << way.back();
}
