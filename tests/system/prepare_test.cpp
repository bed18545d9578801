// Long recordings and their texts, cut into samples that a training takes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <map>
#include <set>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "support/environment.h"
#include "support/long_recording.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_models.h"
#include "system/lj003.h"
#include "text/manifest/csv.h"

using namespace tutti;
using Json = nlohmann::json;

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The spoken text of some of samples/.
const std::map<std::string, std::string> kTexts{
    {"mixed.m4a",
     "seven nine four four zero four eight eight two four five three eight seven eight five four three nine four six "
     "one "
     "eight five three eight seven two zero seven five three eight five six four seven nine seven five"},
    {"jackson.ogg", "three three five"},
    {"theo.mp3", "three four zero nine six"}};

struct Sample {
  std::string text;
  double start = 0;  // in the recording
  double seconds = 0;
  double score = 0;
};

class Prepare : public testing::Test {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_TINY_MODEL();
    const auto three_minutes = long_recording(folder_, 3);
    recording_ = three_minutes.file;
    texts_ = three_minutes.spoken;
  }

  /// Subtitles of the recording; `change` may alter each one's text and times.
  template <class Change>
  std::string subtitles(Change change) const {
    std::string lines;
    int number = 0;
    for (Json phrase : texts_["phrases"]) {
      change(number++, phrase);
      lines += std::to_string(number) + "\n" + clock(phrase["start"]) + " --> " + clock(phrase["end"]) + "\n" +
               phrase["text"].get<std::string>() + "\n\n";
    }
    return lines;
  }

  ProgramEnd prepare(const std::string& text, const std::string& extension, const std::string& window = "None") {
    EXPECT_TRUE(write_file_atomically(folder_ / ("texts/long-three-minutes" + extension), text));
    return run_program({tutti_program(), "prepare", "whisper", "--model", tiny_model(), "--out", out().string(),
                        "--texts", (folder_ / "texts").string(), "--window-seconds", window, "--json", recording_});
  }

  std::vector<Sample> samples() const {
    const auto text = read_file(out() / "metadata.csv").value();
    CsvReader reader(text, ',');
    (void)reader.next();
    std::vector<Sample> all;
    while (const auto record = reader.next().value()) {
      const auto& fields = record->fields;
      EXPECT_TRUE(fs::exists(out() / "audio" / fields[1]));
      all.push_back({fields[2], std::stod(fields[4]), std::stod(fields[3]), std::stod(fields[5])});
    }
    return all;
  }
  std::vector<Json> refused() const {
    std::istringstream text(read_file(out() / "refused.jsonl").value());
    std::vector<Json> all;
    for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line));
    return all;
  }
  std::string joined() const {
    std::string all;
    for (const Sample& sample : samples()) all += (all.empty() ? "" : " ") + sample.text;
    return all;
  }
  fs::path out() const { return folder_ / "corpus"; }

  /// Writes the text of a recording, without times, to the file where it is searched.
  fs::path with_text(const fs::path& recording, const std::string& text) const {
    EXPECT_TRUE(write_file_atomically(folder_ / "texts" / recording.stem().concat(".txt"), text));
    return recording;
  }
  fs::path with_text(const std::string& sample) const {
    return with_text(fs::path(TUTTI_SOURCE_DIR) / "samples" / sample, kTexts.at(sample));
  }
  fs::path long_with_text(int minutes) const {
    const auto long_one = long_recording(folder_, minutes);
    return with_text(long_one.file, long_one.spoken["text"].get<std::string>());
  }
  std::vector<std::string> command_for(const std::vector<fs::path>& recordings, const std::string& out) const {
    std::vector<std::string> words{tutti_program(), "prepare", "whisper", "--model"};
    words.insert(words.end(), {tiny_model(), "--out", (folder_ / out).string()});
    words.insert(words.end(), {"--texts", (folder_ / "texts").string()});
    for (const fs::path& recording : recordings) words.push_back(recording.string());
    return words;
  }
  /// Every file of a corpus, by its name.
  std::map<std::string, std::string> content(const std::string& out) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / out))
      if (entry.is_regular_file())
        all[fs::relative(entry.path(), folder_ / out).string()] = read_file(entry.path()).value();
    return all;
  }

  /// No cut is inside a phrase of the sample before it.
  void expect_cuts_between_phrases() const {
    for (const Sample& sample : samples())
      for (const Json& phrase : texts_["phrases"]) {
        const double start = phrase["start"], end = phrase["end"], cut = sample.start + sample.seconds;
        EXPECT_FALSE(cut > start + 0.1 && cut < end - 0.1) << "cut at " << cut << " in " << phrase;
      }
  }

  TempFolder folder_;
  fs::path recording_;  // three minutes long
  Json texts_;          // of it

 private:
  static std::string clock(double seconds) {
    char text[32];
    const int ms = static_cast<int>(seconds * 1000 + 0.5);
    std::snprintf(text, sizeof text, "%02d:%02d:%02d,%03d", ms / 3600000, ms / 60000 % 60, ms / 1000 % 60, ms % 1000);
    return text;
  }
};

}  // namespace

TEST_F(Prepare, LaggingSubtitlesBecomeAlignedTrainableSamples) {
  const auto end = prepare(subtitles([](int, Json& phrase) {
                             phrase["start"] = phrase["start"].get<double>() + 0.25;
                             phrase["end"] = phrase["end"].get<double>() + 0.25;
                           }),
                           ".srt");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(joined(), texts_["text"]);
  EXPECT_TRUE(refused().empty()) << read_file(out() / "refused.jsonl").value();
  EXPECT_GE(samples().size(), 6U);
  for (const Sample& sample : samples()) {
    EXPECT_LE(sample.seconds, 30);
    EXPECT_GE(sample.score, 0.8) << sample.text;
  }
  expect_cuts_between_phrases();
  const auto trained = run_program({tutti_program(), "train", "whisper", "--config",
                                    std::string(TUTTI_SOURCE_DIR) + "/recipes/smoke.toml", "--data", out().string(),
                                    "--out", (folder_ / "train").string(), "--max-steps", "2", "--timestamps", "1"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

TEST_F(Prepare, AWrongSubtitleIsRefusedWithItsTextAndItsAudioIsInNoSample) {
  Json wrong;
  const auto end = prepare(subtitles([&](int number, Json& phrase) {
                             if (number != 7) return;
                             phrase["text"] = "an invented line not in the recording";
                             wrong = phrase;
                           }),
                           ".srt");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  ASSERT_EQ(refused().size(), 1U) << read_file(out() / "refused.jsonl").value();
  EXPECT_EQ(refused()[0]["text"], wrong["text"]);
  EXPECT_THAT(refused()[0]["reason"].get<std::string>(), HasSubstr("improbable"));
  const double middle = (wrong["start"].get<double>() + wrong["end"].get<double>()) / 2;
  for (const Sample& sample : samples())
    EXPECT_FALSE(sample.start < middle && middle < sample.start + sample.seconds) << sample.text;
  EXPECT_EQ(joined().find("invented"), std::string::npos);
}

TEST_F(Prepare, TextWithoutTimesIsFoundInTheAudio) {
  const std::string text = texts_["text"];
  const auto end = prepare(text + "\nan afterword that was not read\n", ".txt", "15");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(joined(), text);
  for (const Sample& sample : samples()) EXPECT_LE(sample.seconds, 15);
  ASSERT_EQ(refused().size(), 1U) << read_file(out() / "refused.jsonl").value();
  EXPECT_EQ(refused()[0]["text"], "an afterword that was not read");
}

TEST_F(Prepare, FailedWriteOmitsRecordingUntilTheCommandRunsAgain) {
  const auto in_the_way = out() / "audio/long-three-minutes-0003.flac";  // of the third sample
  fs::create_directories(in_the_way);
  ASSERT_TRUE(write_file_atomically(out() / "done/settings", ""));  // as an earlier run has left it
  const auto end = prepare(subtitles([](int, Json&) {}), ".srt", "15");
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_THAT(end.err, HasSubstr("long-three-minutes-0003.flac"));
  EXPECT_TRUE(samples().empty()) << "whole, or not at all";
  fs::remove(in_the_way);
  EXPECT_EQ(prepare(subtitles([](int, Json&) {}), ".srt", "15").exit_code, 0);
  EXPECT_GT(samples().size(), 3U);
}

TEST_F(Prepare, ARecordingWithoutTextIsRefusedByName) {
  const auto end = run_program({tutti_program(), "prepare", "whisper", "--model", tiny_model(), "--out", out().string(),
                                "--texts", (folder_ / "nowhere").string(), recording_});
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_THAT(end.err, HasSubstr("long-three-minutes.srt"));
  EXPECT_THAT(refused().at(0)["recording"].get<std::string>(), HasSubstr(recording_.filename().string()));
}

TEST_F(Prepare, TheCorpusIsTheSameHoweverManyRecordingsAreInWorkTogether) {
  ASSERT_TRUE(write_file_atomically(folder_ / "broken.wav", "no sound at all"));
  ASSERT_TRUE(write_file_atomically(folder_ / "texts/broken.txt", "one two"));
  const std::vector<fs::path> recordings{with_text("mixed.m4a"), folder_ / "broken.wav", with_text("jackson.ogg"),
                                         folder_ / "textless.wav", with_text("theo.mp3")};
  std::vector<ProgramEnd> ends;
  for (const std::string number : {"1", "4"}) {
    auto words = command_for(recordings, "corpus-" + number);
    words.insert(words.end(), {"--files-at-once", number});
    ends.push_back(run_program(words));
    EXPECT_EQ(ends.back().exit_code, 3) << ends.back().err;
  }
  const auto one = content("corpus-1"), four = content("corpus-4");
  EXPECT_TRUE(one == four);
  EXPECT_EQ(one.at("refused.jsonl"), four.at("refused.jsonl"));
  const std::string& lines = one.at("metadata.csv");
  EXPECT_LT(lines.find("mixed-0001"), lines.find("jackson-0001"));
  EXPECT_LT(lines.find("jackson-0001"), lines.find("theo-0001"));
  EXPECT_NE(lines.find("theo-0001"), std::string::npos);
  const std::string& refused = one.at("refused.jsonl");
  EXPECT_LT(refused.find("broken.wav"), refused.find("textless.wav"));
  EXPECT_THAT(ends[1].err, HasSubstr("broken.wav"));
}

/// What a run of prepare remembers of its threads is replaced by `threads`: how many it chose itself depends on how
/// busy the machine was.
void remember_instead(const fs::path& cache, const Json& threads) {
  std::size_t found = 0;
  for (const auto& entry : fs::directory_iterator(cache / "tuning")) {
    auto json = Json::parse(read_file(entry.path()).value());
    json["threads"] = threads;
    ASSERT_TRUE(write_file_atomically(entry.path(), json.dump()));
    ++found;
  }
  EXPECT_EQ(found, 1U);
}

TEST_F(Prepare, TuningAndRememberedThreadsChangeNoFile) {
  std::vector<fs::path> recordings;
  const auto run = [&](const std::string& out, const std::string& flag) {
    auto words = command_for(recordings, out);
    words.insert(words.end(), {"--device", "emulated:3000x:8GB", "--json", flag});
    const auto end = run_program(words, {"TUTTI_CACHE=" + (folder_ / "cache").string()});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    return Json::parse(end.out).value("tuning", Json());
  };
  const auto copy_until = [&](std::size_t count) {
    while (recordings.size() < count) {
      const auto copy = folder_ / ("clip" + std::to_string(recordings.size()) + ".ogg");
      fs::copy_file(fs::path(TUTTI_SOURCE_DIR) / "samples/jackson.ogg", copy);
      recordings.push_back(with_text(copy, kTexts.at("jackson.ogg")));
    }
  };
  Json tuned;
  for (const std::size_t count : {150, 300, 600}) {  // until there are enough for its threads to settle
    fs::remove_all(folder_ / "tuned");
    copy_until(count);
    tuned = run("tuned", "--memory=64GiB");
    if (tuned["settled"]) break;
  }
  ASSERT_TRUE(tuned["settled"]) << tuned;
  const int together = tuned["threads_before"]["align"];
  recordings.resize(20);
  const Json known{{"decode", 5}, {"align", together + 3}};
  remember_instead(folder_ / "cache", known);
  EXPECT_EQ(run("known", "--memory=64GiB")["threads_before"], known);
  remember_instead(folder_ / "cache", {{"decode", 5}, {"align", 1}});
  EXPECT_EQ(run("few", "--memory=64GiB")["threads_before"]["align"], together) << "never fewer than usual";
  fs::remove_all(folder_ / "cache");
  EXPECT_TRUE(run("untuned", "--no-tune").is_null());
  EXPECT_FALSE(fs::exists(folder_ / "cache/tuning")) << "nothing is remembered of it";
  const auto untuned = content("untuned"), all = content("tuned");
  EXPECT_TRUE(untuned == content("known"));
  for (const auto& [name, text] : untuned) EXPECT_TRUE(all.at(name).starts_with(text)) << name;
}

TEST_F(Prepare, KilledItGoesOnWithTheRecordingsThatAreNotDoneToTheSameCorpus) {
  // Long enough not to end before the signal arrives.
  const std::vector<fs::path> recordings{with_text("jackson.ogg"), long_with_text(3), with_text("theo.mp3")};
  ASSERT_EQ(run_program(command_for(recordings, "whole")).exit_code, 0);
  {
    auto words = command_for(recordings, "corpus");
    words.insert(words.end(), {"--files-at-once", "1"});
    RunningProgram program(words);
    ASSERT_TRUE(program.saw("jackson.ogg: "));
    ::kill(program.pid(), SIGKILL);
    program.wait();
  }
  ASSERT_FALSE(fs::exists(out() / "metadata.csv"));
  auto other = command_for(recordings, "corpus");
  other.insert(other.end(), {"--least-score", "0.1"});
  const auto refused = run_program(other);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("made with other settings"));
  const auto end = run_program(command_for(recordings, "corpus"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("of 3 recordings were prepared before"));
  EXPECT_EQ(end.err.find("jackson.ogg: "), std::string::npos) << end.err;
  const auto found = content("corpus"), wanted = content("whole");
  for (const auto& [name, bytes] : wanted) EXPECT_TRUE(found.contains(name) && found.at(name) == bytes) << name;
  EXPECT_FALSE(fs::exists(out() / "done")) << "the corpus is whole";
}

TEST_F(Prepare, KilledDecodersRecordingIsPreparedByTheNextRun) {
  const std::vector<fs::path> recordings{with_text("jackson.ogg"), with_text("theo.mp3")};
  const std::string decoder = folder_ / "decoder";
  ASSERT_TRUE(write_file_atomically(
      decoder, "#!/bin/sh\ncase \"$2\" in *theo*) kill -KILL $$ ;; esac\nexec '" + tutti_program() + "' \"$@\"\n"));
  fs::permissions(decoder, fs::perms::owner_all);
  {
    const ScopedVariable killed("TUTTI_DECODER", decoder.c_str());
    const auto end = run_program(command_for(recordings, "corpus"));
    EXPECT_EQ(end.exit_code, 3) << end.err;
    EXPECT_THAT(end.err, HasSubstr("the same command goes on with the rest"));
  }
  EXPECT_THAT(refused().at(0)["reason"].get<std::string>(), HasSubstr("was killed from outside"));
  const auto before = samples().size();
  EXPECT_GT(before, 0U) << "what there is can be learned";
  const auto end = run_program(command_for(recordings, "corpus"));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("1 of 2 recordings were prepared before"));
  EXPECT_GT(samples().size(), before);
  EXPECT_TRUE(refused().empty());
  EXPECT_FALSE(fs::exists(out() / "done")) << "the corpus is whole";
}

TEST_F(Prepare, CtrlCLeavesAValidCorpusOfFinishedRecordings) {
  RunningProgram program(command_for({with_text("jackson.ogg"), long_with_text(8)}, "corpus"));
  ASSERT_TRUE(program.saw("jackson.ogg: "));
  ::kill(program.pid(), SIGINT);
  const auto end = program.wait();
  EXPECT_EQ(end.exit_code, 130) << end.err;
  ASSERT_EQ(samples().size(), 1U);
  EXPECT_EQ(samples()[0].text, "three three five");
  EXPECT_TRUE(refused().empty()) << read_file(out() / "refused.jsonl").value();
}

// LJ001-* and LJ002-* of the shared LJSpeech set are cut off, and their texts are not.
TEST_F(Prepare, ClipsWithoutTheEndOfTheirTextAreRefused) {
  TUTTI_NEEDS("speech/lj/metadata.csv");
  TUTTI_NEEDS_REAL_MODEL();
  const std::set<std::string> damaged{"LJ001-0014", "LJ001-0034", "LJ001-0096", "LJ001-0113",
                                      "LJ001-0177", "LJ002-0026", "LJ002-0062"};
  std::vector<std::string> words{tutti_program(), "prepare",      "whisper", "--model",        real_model().string(),
                                 "--out",         out().string(), "--texts", folder_ / "texts"};
  for (const SpokenClip& clip : lj_clips())
    if (damaged.contains(clip.id) || clip.id == "LJ001-0053") words.push_back(with_text(clip.audio, clip.text));
  const auto end = run_program(words);
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_EQ(joined(), "they must be considered to have ended the age of fine printing in Italy.");
  std::set<std::string> named;
  for (const Json& line : refused()) named.insert(fs::path(line["recording"].get<std::string>()).stem());
  EXPECT_EQ(named, damaged);
}
