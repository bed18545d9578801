#include "feed/voice/voice_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "audio/samples.h"
#include "base/files.h"
#include "feed/voice/clip_maker.h"
#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

/// A tone with an overtone, 16 bits.
std::vector<std::int16_t> tone(double hertz, double seconds, int rate, double loudness = 8000) {
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(seconds * rate));
  for (std::size_t i = 0; i < pcm.size(); ++i) {
    const double turn = 2 * std::numbers::pi * hertz * static_cast<double>(i) / rate;
    const double value = std::clamp(loudness * (std::sin(turn) + 0.4 * std::sin(2 * turn)), -32768.0, 32767.0);
    pcm[i] = static_cast<std::int16_t>(value);
  }
  return pcm;
}

/// Data in LJSpeech's layout, in a folder of its own.
struct Data {
  void add(const std::string& id, const std::string& text, int rate = 22050, double seconds = 2, double hertz = 200) {
    write_wav(folder / "data/wavs" / (id + ".wav"), tone(hertz, seconds, rate), static_cast<std::uint32_t>(rate));
    list += id + "|" + text + "\n";
  }
  VoiceBuildOptions options() {
    EXPECT_TRUE(write_file_atomically(folder / "data/metadata.csv", list));
    return {.data = folder / "data", .out = folder / "set", .kind = SymbolKind::characters, .threads = 2};
  }
  std::string bad() const { return read_file(folder / "set/bad_samples.jsonl").value_or(""); }

  TempFolder folder{};
  std::string list{};
};

Result<VoiceBuildReport> build(const VoiceBuildOptions& options) {
  return build_voice_set(options, [](std::int64_t, std::int64_t) { return true; });
}

std::set<std::string> texts_of(const VoiceSet& set, VoicePart part) {
  std::set<std::string> texts;
  for (const auto index : set.part(part)) texts.emplace(set.clip(index).text);
  return texts;
}

}  // namespace

TEST(VoiceBuilder, ClipOfAnotherRateKeepsItsPitch) {
  Data data;
  data.add("a", "one at its own rate", 22050);
  data.add("b", "two at a higher rate", 48000);
  data.add("c", "three at a lower rate", 16000);
  auto options = data.options();
  options.rate = Hertz{22050};
  options.validation_share = 0;
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set) << set.error().text();
  ASSERT_EQ((*set)->size(), 3);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto clip = (*set)->clip(i);
    EXPECT_NEAR(static_cast<double>(clip.frames), 2 * 22050.0 / 256, 2) << clip.name;
    for (std::int64_t frame = 10; frame < clip.frames - 10; ++frame)
      ASSERT_LT(std::abs(1200 * std::log2(clip.pitch[static_cast<std::size_t>(frame)] / 200)), 5) << clip.name;
  }
}

TEST(ClipMaker, SoftConsonantBeforeAVowelStays) {
  const ClipMaker maker(usual_voice_mel({16000}), {});
  constexpr double kPart = 0.1, kSoft = 0.0126;  // seconds of each; 38 dB
  std::vector<float> audio;
  for (const double loudness : {0.0, kSoft, 1.0, 0.0})
    for (const auto sample : tone(200, kPart, 16000, 8000 * loudness))
      audio.push_back(static_cast<float>(sample) / 32768);
  const auto kept = maker.trimmed(audio, Seconds(0));
  EXPECT_NEAR(static_cast<double>(kept.size()) / 16000, 2 * kPart, 0.021);
}

TEST(VoiceBuilder, ListIsReadWithTwoAndThreeFields) {
  Data data;
  data.list = "id|transcription|normalised\n";
  data.add("a", "Dr. Who|doctor who and friends");
  data.add("b", "with two fields only");
  data.add("c", "a | bar|a bar between two");
  const auto options = data.options();
  ASSERT_TRUE(build(options));
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  auto texts = texts_of(**set, VoicePart::training);
  texts.merge(texts_of(**set, VoicePart::validation));
  EXPECT_EQ(texts, (std::set<std::string>{"doctor who and friends", "with two fields only", "a bar between two"}));
}

TEST(VoiceBuilder, ClipWithOtherWordsThanItsTextIsLeftOut) {
  Data data;
  const std::string text = "one of the first rules of all";
  for (const char* id : {"whole", "cut", "other", "unread", "invented"}) data.add(id, text);
  auto options = data.options();
  options.validation_share = 0;
  options.transcribe = [](std::span<const VoiceSource* const> clips) -> Result<ClipTexts> {
    EXPECT_EQ(clips.size(), 5);
    return ClipTexts{"One of the first rules of all.", "One of the first", "nothing like it was in the", std::nullopt,
                     "one of the first rules of all and much more that was never spoken there"};
  };
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->training, 3);
  EXPECT_EQ(report->other_words, 2);
  EXPECT_NE(data.bad().find("3 of its text's 7 words are missing in its audio, expected at most 20 %; the model finds"),
            std::string::npos)
      << data.bad();
  EXPECT_NE(data.bad().find("\"id\":\"other\",\"reason\":\"7 of its text's 7 words are others"), std::string::npos)
      << data.bad();
}

TEST(VoiceBuilder, RecordingWithTwoRowsIsLearnedOnceOrNotAtAll) {
  Data data;
  data.add("once", "the first of them all");
  data.add("again", "read in the same words");
  data.add("other", "one text of the two");
  data.list += "again|Read in the same words.\n./again.wav|read in the same words\nother|another text altogether\n";
  auto options = data.options();
  options.validation_share = 0;
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->training, 2);
  EXPECT_EQ(report->listed_twice, 4);
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  EXPECT_EQ(texts_of(**set, VoicePart::training),
            (std::set<std::string>{"the first of them all", "read in the same words"}));
  EXPECT_NE(data.bad().find("\"id\":\"./again.wav\",\"reason\":\"its recording has a row before"), std::string::npos);
  EXPECT_NE(data.bad().find("2 rows with different texts: 'one text of the two' and 'another text altogether'"),
            std::string::npos)
      << data.bad();
}

TEST(VoiceBuilder, TwoListsAreTheTwoParts) {
  Data data;
  data.add("a", "for training");
  data.add("b", "for validation");
  const auto options = data.options();
  fs::remove(options.data / "metadata.csv");
  ASSERT_TRUE(write_file_atomically(options.data / "metadata_train.csv", "a|for training\nc|has no file\n"));
  ASSERT_TRUE(write_file_atomically(options.data / "metadata_eval.csv", "fileid|text\nb|for validation\n"));
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->missing, 1);
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  EXPECT_EQ(texts_of(**set, VoicePart::training), std::set<std::string>{"for training"});
  EXPECT_EQ(texts_of(**set, VoicePart::validation), std::set<std::string>{"for validation"});
}

TEST(VoiceBuilder, TextsInBothListsAreCounted) {
  Data data;
  data.add("a", "the same");
  data.add("b", "the same");
  data.add("c", "another");
  const auto options = data.options();
  fs::remove(options.data / "metadata.csv");
  ASSERT_TRUE(write_file_atomically(options.data / "metadata_train.csv", "a|the same\nc|another\n"));
  ASSERT_TRUE(write_file_atomically(options.data / "metadata_eval.csv", "b|The same.\n"));
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->repeated, 1);
}

TEST(VoiceBuilder, SpeakersComeFromVctkIds) {
  Data data;
  data.add("p225_001", "please call her");
  data.add("p226_001", "ask her to bring");
  const auto options = data.options();
  ASSERT_TRUE(build(options));
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->format().speakers, (std::vector<std::string>{"p225", "p226"}));
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "vctk/txt/p300/p300_007.txt", "six spoons of peas\n"));
  ASSERT_TRUE(write_file_atomically(folder / "vctk/txt/p300/p300_008.txt", "without a file\n"));
  fs::create_directories(folder / "vctk/wav48/p300");
  write_wav(folder / "vctk/wav48/p300/p300_007.wav", tone(200, 2, 48000), 48000);
  const auto report = build({.data = folder / "vctk", .out = folder / "set", .kind = SymbolKind::characters});
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->training, 1);
  EXPECT_EQ(report->missing, 1);
  EXPECT_EQ(report->mel.rate, Hertz{22050});
  EXPECT_EQ(report->speakers, std::vector<std::string>{"p300"});
}

TEST(VoiceBuilder, ListsOfSeveralSpeakersAreNeverOneVoice) {
  for (const std::string header : {"", "id|speaker|text\n", "id|spk|text\n"}) {
    Data data;
    data.list = header;
    for (int i = 0; i < 4; ++i)
      data.add("c" + std::to_string(i), (i % 2 == 0 ? "anna|" : "ben|") + std::string("these are the words of clip ") +
                                            std::string(static_cast<std::size_t>(i + 1), 'a'));
    const auto report = build(data.options());
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_EQ(report->speakers, (std::vector<std::string>{"anna", "ben"})) << header;
    EXPECT_EQ(report->training + report->validation, 4) << header;
  }
}

TEST(VoiceBuilder, SpeakersComeFromVctkNamesInPathsToo) {
  Data data;
  data.add("p225_001", "please call her");
  data.add("p226_001", "ask her to bring");
  data.list = "./wavs/p225_001.wav|please call her\n./wavs/p226_001.wav|ask her to bring\n";
  const auto report = build(data.options());
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->speakers, (std::vector<std::string>{"p225", "p226"}));
}

TEST(VoiceBuilder, ClipsThatCannotBeUsedAreNeverTrainedOn) {
  Data data;
  data.add("good", "a clip as it should be");
  data.add("other", "another clip as it should be");
  data.add("mute", "  ");
  data.add("marks", "...");
  data.add("fast", "far more text than anyone could say in so short a time", 22050, 1);
  data.add("slow", "short", 22050, 8);
  data.add("endless", std::string(150, 'a') + " " + std::string(60, 'b'), 22050, 15);
  data.list += "gone|there is no file\nempty|there is nothing in it\nclipped|louder than full scale\n";
  ASSERT_TRUE(write_file_atomically(data.folder / "data/wavs/empty.wav", ""));
  write_wav(data.folder / "data/wavs/clipped.wav", tone(200, 2, 22050, 50000), 22050);
  const auto options = data.options();
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->training + report->validation, 2);
  EXPECT_EQ(report->bad, 8);
  EXPECT_EQ(report->missing, 1);
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->size(), 2);
  const auto bad = data.bad();
  for (const char* reason :
       {R"("mute","reason":"it has no text")", R"("marks","reason":"expected text with a letter)",
        R"("fast","reason":"more text than its audio can hold: 54 characters in 1.00 s)",
        R"("slow","reason":"less text than it has audio)", R"("endless","reason":"its text has 213 symbols)",
        R"("gone","reason":)", R"("empty","reason":)", R"("clipped","reason":"it is clipped: )"})
    EXPECT_NE(bad.find(reason), std::string::npos) << reason << " in " << bad;
}

namespace {

/// Harmonics below two resonances, which move a little from clip to clip: a vowel.
std::vector<std::int16_t> vowel(double hertz, double first, int rate) {
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(2 * rate));
  for (std::size_t i = 0; i < pcm.size(); ++i) {
    double value = 0;
    for (int harmonic = 1; harmonic * hertz < 5000; ++harmonic) {
      const double at = harmonic * hertz, low = (at - first) / 150, high = (at - 1700) / 200;
      value += (1 / (1 + low * low) + 0.5 / (1 + high * high)) *
               std::sin(2 * std::numbers::pi * at * static_cast<double>(i) / rate);
    }
    pcm[i] = static_cast<std::int16_t>(3000 * value);
  }
  return pcm;
}

}  // namespace

TEST(VoiceBuilder, ClipUnderAnotherRatesHeaderIsLeftOut) {
  Data data, whole;
  for (int i = 0; i < 10; ++i) {
    const auto name = "clip" + std::to_string(i);
    for (Data* one : {&data, &whole}) {
      write_wav(one->folder / "data/wavs" / (name + ".wav"), vowel(170 + 6 * i, 500 + 10 * i, 22050), 22050);
      one->list += name + "|words of clip " + std::string(static_cast<std::size_t>(i + 1), 'a') + "\n";
    }
  }
  write_wav(data.folder / "data/wavs/slow.wav", vowel(200, 550, 48000), 22050);
  data.list += "slow|spoken and recorded at another rate\n";
  for (Data* one : {&data, &whole}) {
    auto options = one->options();
    options.validation_share = 0;
    options.waveforms = true;
    ASSERT_TRUE(build(options));
  }
  EXPECT_NE(data.bad().find(R"({"id":"slow","reason":"its header states another sample rate)"), std::string::npos)
      << data.bad();
  EXPECT_EQ(std::ranges::count(data.bad(), '\n'), 1);
  EXPECT_EQ(whole.bad(), "");
  const auto set = VoiceSet::open(data.folder / "set"), other = VoiceSet::open(whole.folder / "set");
  ASSERT_TRUE(set && other);
  ASSERT_EQ((*set)->size(), 10);
  EXPECT_TRUE(VoiceWaveforms::open(data.folder / "set", **set));
  EXPECT_NEAR((*set)->format().pitch_mean, (*other)->format().pitch_mean, 1e-9);
  EXPECT_NEAR((*set)->format().mean[20], (*other)->format().mean[20], 1e-5);
}

TEST(VoiceBuilder, NoTextIsInBothParts) {
  Data data;
  for (int i = 0; i < 40; ++i) data.add("c" + std::to_string(i), "text number " + std::string(1, char('a' + i % 10)));
  auto options = data.options();
  options.validation_share = 0.3;
  ASSERT_TRUE(build(options));
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  const auto training = texts_of(**set, VoicePart::training), validation = texts_of(**set, VoicePart::validation);
  EXPECT_EQ(training.size(), 7U);
  EXPECT_EQ(validation.size(), 3U);
  for (const auto& text : validation) EXPECT_FALSE(training.contains(text)) << text;
  options.seed = 99;
  options.out = data.folder / "other";
  ASSERT_TRUE(build(options));
  const auto other = VoiceSet::open(options.out);
  ASSERT_TRUE(other);
  EXPECT_NE(texts_of(**other, VoicePart::validation), validation);
}

TEST(VoiceBuilder, ThreadsChangeNothingOfTheSet) {
  Data data;
  for (int i = 0; i < 12; ++i) data.add("c" + std::to_string(i), "text " + std::string(1, char('a' + i)), 16000, 1);
  auto options = data.options();
  options.threads = 1;
  ASSERT_TRUE(build(options));
  options.threads = 4;
  options.out = data.folder / "other";
  ASSERT_TRUE(build(options));
  const auto one = read_file(data.folder / "set/voice.set"), other = read_file(data.folder / "other/voice.set");
  ASSERT_TRUE(one && other);
  EXPECT_TRUE(*one == *other);
}

TEST(VoiceBuilder, DryRunWritesNothing) {
  Data data;
  data.add("a", "a text");
  data.add("b", "");
  auto options = data.options();
  options.dry_run = true;
  const auto report = build(options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->training, 1);
  EXPECT_EQ(report->bad, 1);
  EXPECT_FALSE(is_there(options.out));
}

TEST(VoiceBuilder, SingleDigitsBecomeStrings) {
  const TempFolder folder;
  fs::create_directories(folder / "digits");
  for (int digit = 0; digit < 10; ++digit)
    for (int take = 0; take < 2; ++take)
      for (const char* speaker : {"ann", "bob"})
        write_wav(folder / "digits" / (std::to_string(digit) + "_" + speaker + "_" + std::to_string(take) + ".wav"),
                  tone(150 + 20 * digit, 0.4, 8000), 8000);
  ASSERT_TRUE(write_file_atomically(folder / "test.txt", "3 5\nseven seven\n"));
  VoiceBuildOptions options{.data = folder / "digits",
                            .out = folder / "set",
                            .speaker = "ann",
                            .kind = SymbolKind::characters,
                            .exclude = folder / "test.txt"};
  options.strings = {.count = 60, .least = 2, .most = 3};
  const auto report = build(options);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->are_digits);
  EXPECT_EQ(report->mel.rate, Hertz{16000});
  const auto set = VoiceSet::open(options.out);
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->size(), 60);
  auto texts = texts_of(**set, VoicePart::training);
  texts.merge(texts_of(**set, VoicePart::validation));
  EXPECT_EQ(texts.size(), 60U);
  EXPECT_FALSE(texts.contains("three five"));
  EXPECT_FALSE(texts.contains("seven seven"));
  const auto clip = (*set)->clip(0);
  const auto words = static_cast<double>(std::ranges::count(clip.text, ' ') + 1);
  const double seconds = static_cast<double>(clip.frames) * 200 / 16000;
  EXPECT_GT(seconds, words * 0.4 + (words + 1) * 0.04 - 0.03);
  EXPECT_LT(seconds, words * 0.4 + (words + 1) * 0.25 + 0.03);
  // Background noise: no pause is digital silence.
  EXPECT_GT(*std::ranges::min_element(clip.energy), 0.005F);
  options.speaker = "eve";
  const auto refused = build(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what, "speaker: no recording is by 'eve', found ann, bob");
}

TEST(VoiceBuilder, DataWithoutAUsableClipIsRefused) {
  Data data;
  data.add("a", "...");
  const auto refused = build(data.options());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().fault, Fault::usage);
  EXPECT_FALSE(is_there(data.folder / "set/voice.set"));
}
