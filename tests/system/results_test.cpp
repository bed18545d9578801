// What follows a transcript: texts replaced, paragraphs, commands for finished recordings; and the scores of speakers.

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/json.h"
#include "base/process/shell_command.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_models.h"

using namespace tutti;
using testing::HasSubstr;

namespace {

namespace fs = std::filesystem;

const std::string kGeorge = TUTTI_SOURCE_DIR "/samples/george.wav";

class Results : public testing::Test {
 protected:
  std::string file_with(const std::string& name, const std::string& content) {
    EXPECT_TRUE(write_file_atomically(folder_ / name, content));
    return (folder_ / name).string();
  }
  std::string text_of(const std::string& name) { return read_file(folder_ / name).value_or("no " + name); }
  std::string path(const std::string& name) { return (folder_ / name).string(); }

  TempFolder folder_;
};

class Transcribed : public Results {
 protected:
  ProgramEnd transcribe(std::vector<std::string> more) {
    std::vector<std::string> words{tutti_program(), "transcribe", "--model",      digits_model(),
                                   "--language",    "en",         "--output-dir", path("out"),
                                   "--beam-size",   "1",          kGeorge};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }
};

}  // namespace

TEST_F(Results, ConvertReplacesAndMakesParagraphs) {
  const auto talk = file_with("talk.json", R"({"segments":[{"start":0,"end":1,"text":" Jon Smyth."},
    {"start":1,"end":2,"text":" jon smyth?"},{"start":9,"end":10,"text":" Yes."}]})");
  const auto names = file_with("names.tsv", "jon smyth\tJohn Smith\n");
  const ProgramEnd end = run_program(
      {tutti_program(), "convert", talk, "--replace", names, "--paragraphs", "3", "-f", "txt", "-o", path("out")});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Replaced by --replace: 2 texts"));
  EXPECT_EQ(text_of("out/talk.txt"), "John Smith. John Smith?\n\nYes.\n");
}

TEST_F(Results, AListThatWouldBeOverwrittenIsRefused) {
  const auto talk = file_with("names.json", R"({"segments":[]})");
  const auto names = file_with("names.tsv", "a\tb\n");
  const ProgramEnd end =
      run_program({tutti_program(), "convert", talk, "--replace", names, "-f", "tsv", "-o", folder_.path().string()});
  EXPECT_EQ(end.exit_code, 2) << end.err;
  EXPECT_EQ(text_of("names.tsv"), "a\tb\n");
}

TEST_F(Results, ABadListIsNamedWithItsLine) {
  const auto talk = file_with("talk.json", R"({"segments":[]})");
  const auto names = file_with("names.tsv", "a\tb\nonly one\n");
  const ProgramEnd end = run_program({tutti_program(), "convert", talk, "--replace", names, "-o", path("out")});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.err, HasSubstr("--replace: " + names + ", line 2: expected the old text, a tab and the new text"));
}

TEST_F(Transcribed, TextsAreReplacedInEveryFormatAndOnTheWay) {
  const auto names = file_with("digits.tsv",
                               "one\tEins\ntwo\tZwei\nthree\tDrei\nfour\tVier\nfive\tFünf\nsix\tSechs\n"
                               "seven\tSieben\neight\tAcht\nnine\tNeun\nzero\tNull\n");
  const ProgramEnd plain = transcribe({"-f", "txt"});
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const std::string before = text_of("out/george.txt");
  const ProgramEnd end = transcribe({"--replace", names, "--word-timestamps", "True", "--json"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const std::string after = text_of("out/george.txt");
  EXPECT_NE(after, before);
  for (const char* digit : {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "zero"}) {
    for (const char* format : {"txt", "srt", "vtt", "tsv", "json"})
      EXPECT_THAT(text_of(std::string("out/george.") + format), Not(HasSubstr(digit))) << format;
    EXPECT_THAT(end.out, Not(HasSubstr(std::string(" ") + digit)));  // of the events
  }
  EXPECT_THAT(end.out, HasSubstr("\"replacements\":"));
}

TEST_F(Transcribed, ACommandRunsOnceForEachRecordingWithQuotedPaths) {
  const auto copy = path("my copies");
  const ProgramEnd end = transcribe({"-f", "json", "--on-done", "echo done; cat {json} >> " + shell_word(copy)});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(text_of("my copies"), text_of("out/george.json"));
  EXPECT_THAT(end.err, HasSubstr("on-done: done"));
}

TEST_F(Transcribed, ACommandThatFailsIsCountedAndEndsWithThree) {
  const ProgramEnd end = transcribe({"-f", "json", "--on-done", "test {input} = x"});
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_THAT(end.err, HasSubstr("--on-done: the command exited with status 1"));
  EXPECT_THAT(end.err, HasSubstr("Commands of --on-done that failed: 1"));
  EXPECT_THAT(text_of("out/george.json"), HasSubstr("segments"));
}

TEST_F(Results, ABatchRunsTheCommandOnceInAllItsRuns) {
  fs::create_directory(folder_ / "in");
  fs::copy_file(kGeorge, folder_ / "in/a b.wav");
  const std::vector<std::string> batch{tutti_program(),
                                       "batch",
                                       path("in"),
                                       "-o",
                                       path("out"),
                                       "--state",
                                       path("state"),
                                       "--devices",
                                       "emulated:1000x:8GB",
                                       "-y",
                                       "--review",
                                       "False",
                                       "-f",
                                       "txt",
                                       "--on-done",
                                       "echo {input} {txt} >> " + shell_word(path("seen"))};
  for (int run = 0; run < 2; ++run) {
    const ProgramEnd end = run_program(batch);
    EXPECT_EQ(end.exit_code, 0) << end.err;
    EXPECT_EQ(text_of("seen"), path("in/a b.wav") + " " + path("out/a b.wav.txt") + "\n");
  }
}

TEST_F(Results, ABatchCountsCommandsThatFail) {
  fs::create_directory(folder_ / "in");
  fs::copy_file(kGeorge, folder_ / "in/a.wav");
  const ProgramEnd end = run_program({tutti_program(), "batch", path("in"), "-o", path("out"), "--state", path("state"),
                                      "--devices", "emulated:1000x:8GB", "-y", "--review", "False", "--report",
                                      path("report.json"), "--on-done", "exit 5"});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  EXPECT_THAT(end.err, HasSubstr("Commands of --on-done that failed: 1"));
  const auto report = nlohmann::json::parse(text_of("report.json"), nullptr, false);
  EXPECT_EQ(report.value("failed_commands", 0), 1);
  EXPECT_EQ(report.value("successful", 0), 1);
}

TEST_F(Results, DerIsPrintedForPeopleAndPrograms) {
  const auto reference = file_with("ref.rttm",
                                   "SPEAKER talk 1 0 4 <NA> <NA> anna <NA> <NA>\n"
                                   "SPEAKER talk 1 4 4 <NA> <NA> bert <NA> <NA>\n");
  const auto hypothesis = file_with("hyp.rttm",
                                    "SPEAKER talk 1 0 5 <NA> <NA> SPEAKER_00 <NA> <NA>\n"
                                    "SPEAKER talk 1 5 2 <NA> <NA> SPEAKER_01 <NA> <NA>\n");
  std::vector<std::string> der{tutti_program(), "der", "--ref", reference, "--hyp", hypothesis};
  EXPECT_EQ(
      run_program(der).out,
      "DER 25.00 %: missed 12.50 %, false alarm 0.00 %, confusion 12.50 % of 8.0 s of speech; speakers: 2 found, 2 "
      "true\n");
  der.insert(der.end(), {"--collar", "0.25", "--json"});
  const auto rates = nlohmann::json::parse(run_program(der).out);
  EXPECT_DOUBLE_EQ(rates["der"], 1.5 / 7);
  EXPECT_DOUBLE_EQ(rates["recordings"]["talk"]["confusion"], 0.75);
  der.insert(der.end(), {"--collar", "-1"});
  EXPECT_EQ(run_program(der).exit_code, 2);
}

TEST_F(Results, SpeakersCountInTheWordErrors) {
  const auto reference = file_with("ref.json", R"({"turns":[{"speaker":"anna","start":0,"text":"One, two, three."},
    {"speaker":"bert","start":4,"text":"Four five"}]})");
  const auto hypothesis =
      file_with("hyp.json", R"({"segments":[{"start":0,"end":3,"text":" one two","speaker":"SPEAKER_00"},
    {"start":3,"end":6,"text":" three four five","speaker":"SPEAKER_01"}]})");
  const std::vector<std::string> wer{tutti_program(), "wer",      "--speakers",   "--ref", reference,
                                     "--hyp",         hypothesis, "--normalizer", "basic"};
  EXPECT_EQ(
      run_program(wer).out,
      "cpWER 40.00 % over 5 words; WDER 20.00 %: of 5 aligned words, 1 with another speaker; speakers: 2 found, 2 "
      "true\n");
  const ProgramEnd plain = run_program({tutti_program(), "wer", "--speakers", "--by-line", "--ref", "a", "--hyp", "b"});
  EXPECT_EQ(plain.exit_code, 2);
}
