// Unintended arguments and inputs, as shells and other programs produce them.

#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "support/expect_output.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// `tutti transcribe` with the model that ships, to TXT in `out`.
std::vector<std::string> command(const TempFolder& out, const std::vector<std::string>& more) {
  std::vector<std::string> words{tutti_program(), "transcribe", "--model", TUTTI_SOURCE_DIR "/models/nano",
                                 "--output-dir",  out.path(),   "-f",      "txt"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST(OddInputs, AnEmptyNameIsNoFile) {
  const TempFolder out;
  for (const char* name_by : {"stem", "path"}) {
    const ProgramEnd end = run_program(command(out, {"--name-by", name_by, ""}));
    EXPECT_EQ(end.exit_code, 2) << end.err;
    expect_output(end.err, "found an empty name");
  }
  for (const auto& [name, code] : {std::pair{"convert", 2}, {"plan", 2}, {"manifest", 2}}) {
    const ProgramEnd end = run_program({tutti_program(), name, ""});
    EXPECT_EQ(end.exit_code, code) << name << ": " << end.err;
    expect_output(end.err, "found an empty name");
  }
}

TEST(OddInputs, ClosedStandardInputIsReportedAtOnce) {
  const TempFolder out;
  const std::vector<std::string> convert{tutti_program(), "convert", "-", "-f", "txt", "-o", out.path()};
  for (const auto& it : {command(out, {"-"}), convert}) {
    std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" <&-", "sh"};
    words.insert(words.end(), it.begin(), it.end());
    const ProgramEnd end = run_program(words);
    EXPECT_EQ(end.exit_code, 3) << end.err;
    expect_output(end.err, "tutti: error: standard input: cannot be read");
  }
}

TEST(OddInputs, AWarningCallsStandardInputByItsName) {
  const TempFolder out;
  std::vector<std::string> words{"/bin/sh", "-c", "exec \"$@\" < '" TUTTI_SOURCE_DIR "/samples/theo.mp3'", "sh"};
  const auto transcribe = command(out, {"--device", "cpu", "--clip-timestamps", "100", "-"});
  words.insert(words.end(), transcribe.begin(), transcribe.end());
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.err, "tutti: warning: standard input: lasts 0:04");
}

TEST(OddInputs, ConvertReadsATranscriptFromStandardInputToo) {
  const TempFolder out;
  const ProgramEnd end =
      run_program({"/bin/sh", "-c", R"(echo '{"segments": [{"start": 0, "end": 1, "text": " hello"}]}' | "$@")", "sh",
                   tutti_program(), "convert", "-", "-f", "txt", "-o", out.path()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(read_file(out / "stdin.txt").value_or("absent"), "hello\n");
}

TEST(OddInputs, AModelsNameDoesNotReachTheTerminalsControls) {
  const TempFolder cache;
  ASSERT_TRUE(write_file_atomically(cache / "models/a--b\x1b[31m/config.json", R"({"model_type": "whisper"})"));
  const ProgramEnd end = run_program({tutti_program(), "models"}, {"TUTTI_CACHE=" + cache.path().string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.out, "a/b [31m");
  EXPECT_EQ(end.out.find('\x1b'), std::string::npos) << end.out;
}

TEST(OddInputs, UnwritableOutputFileIsReportedBeforeTheWork) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "file", "no folder"));
  const std::string target = folder / "file" / "it";
  const std::vector<std::string> commands[] = {{"manifest", folder.path(), "-o", target},
                                               {"bench", "--model", "no-model", "--picture", target},
                                               {"evaluate", "--model", "no-model", "--data", "d", "--report", target},
                                               {"review", "--out", target, folder.path()}};
  for (std::vector<std::string> words : commands) {
    words.insert(words.begin(), tutti_program());
    const ProgramEnd end = run_program(words);
    EXPECT_EQ(end.exit_code, 4) << words[1] << ": " << end.err;
    expect_output(end.err, "cannot be written");
    expect_output(end.err, ": Not a directory");
  }
}

TEST(OddInputs, ATokenBeyondTheVocabularyIsRefusedBeforeAnyWork) {
  const TempFolder out;
  const ProgramEnd end = run_program(command(out, {"--suppress-tokens", "-1,99999", "a.wav", "b.wav"}));
  EXPECT_EQ(end.exit_code, 2) << end.err;
  expect_output(end.err, "--suppress-tokens: token 99999");
  expect_output(end.err, "its vocabulary has 1765");
}

TEST(OddInputs, RefusalByTheLoadedModelIsAUsageError) {
  const TempFolder out;
  std::string prefix;
  for (int i = 0; i < 300; ++i) prefix += "so ";
  const std::string clip = TUTTI_SOURCE_DIR "/samples/george.wav";
  const ProgramEnd one = run_program(command(out, {"--device", "cpu", "--prefix", prefix, clip}));
  const ProgramEnd many =
      run_program({tutti_program(), "batch", "--model", TUTTI_SOURCE_DIR "/models/nano", "--devices", "cpu", "-y", "-o",
                   out / "outputs", "--state", out / "state", "--prefix", prefix, clip});
  for (const ProgramEnd& end : {one, many}) {
    EXPECT_EQ(end.exit_code, 2) << end.err;
    expect_output(end.err, "--prefix: its ");
  }
}

TEST(OddInputs, MisspeltModelIsAUsageErrorAndAbsentModelIsNot) {
  const TempFolder out;
  const std::vector<std::string> nothing_here{"TUTTI_CACHE=" + (out / "cache").string(),
                                              "XDG_CACHE_HOME=" + (out / "cache").string(),
                                              "HF_HUB_CACHE=" + (out / "cache").string(), "HF_HUB_OFFLINE=1"};
  const auto code = [&](std::vector<std::string> words) {
    words.insert(words.begin(), tutti_program());
    return run_program(words, nothing_here).exit_code;
  };
  for (const auto& [name, expected] : {std::pair{"tinny.en", 2}, {"tiny.en", 4}}) {
    EXPECT_EQ(code({"transcribe", "--model", name, "a.wav"}), expected) << name;
    EXPECT_EQ(code({"batch", "--model", name, "--devices", "cpu", "a.wav"}), expected) << name;
    EXPECT_EQ(code({"bench", "--model", name}), expected) << name;
    EXPECT_EQ(code({"evaluate", "--model", name, "--data", out.path().string()}), expected) << name;
    EXPECT_EQ(code({"train", "whisper", "--model", name, "--data", out.path().string(), "--out", out / "trained"}),
              expected)
        << name;
    EXPECT_EQ(code({"pull", "base.en", name}), expected) << name;
  }
  EXPECT_EQ(code({"convert", "tiny.en", "-o", out / "converted"}), 4);
  EXPECT_EQ(code({"pull", "organisation/of/three"}), 2);
  EXPECT_EQ(code({"evaluate", "--model", TUTTI_SOURCE_DIR "/models/nano", "--data", out.path().string(),
                  "--compute-type", "int3"}),
            2);
}

TEST(OddInputs, InvalidNumbersOfEvaluateAreNamed) {
  const auto expect_refused = [](const std::string& flag, const std::string& number, const std::string& why) {
    const auto end = run_program(
        {tutti_program(), "evaluate", "--model", TUTTI_SOURCE_DIR "/models/nano", "--data", "set.jsonl", flag, number});
    EXPECT_EQ(end.exit_code, 2) << end.err;
    expect_output(end.err, flag + ": " + why + number);
  };
  expect_refused("--samples", "-1", "expected a whole number, not negative; found ");
  expect_refused("--threads", "-1", "expected 0 to 1024, found ");
  expect_refused("--threads", "2000", "expected 0 to 1024, found ");
}

TEST(OddInputs, PrepareRefusesTheSameOptionsAsTranscribe) {
  const TempFolder out;
  const auto expect_refused = [&](const std::vector<std::string>& flags, const std::string& why) {
    std::vector<std::string> prepare{tutti_program(), "prepare", "whisper", "--model", TUTTI_SOURCE_DIR "/models/nano",
                                     "--out",         out / "c", "a.wav"};
    prepare.insert(prepare.end(), flags.begin(), flags.end());
    std::vector<std::string> transcribe = flags;
    transcribe.emplace_back("a.wav");
    for (const auto& words : {prepare, command(out, transcribe)}) {
      const ProgramEnd end = run_program(words);
      EXPECT_EQ(end.exit_code, 2) << end.err;
      expect_output(end.err, why);
    }
  };
  expect_refused({"--files-at-once", "2000"}, "--files-at-once: expected 0 to 1024, found 2000");
  expect_refused({"--threads", "-1"}, "--threads: expected 0 to 1024, found -1");
  expect_refused({"--device", "cpu:0", "--threads", "4"}, "cpu:0 is one core");
  expect_refused({"--language", "Klingon"}, "--language: 'Klingon' is no language Whisper knows");
  expect_refused({"--language", "Klingon"}, "or auto to have it detected");
}

TEST(OddInputs, ClipBehindTheRecordingsEndWarns) {
  const TempFolder out;
  const std::string audio = TUTTI_SOURCE_DIR "/samples/theo.mp3";
  for (const char* way : {"--vad=False", "--batched"}) {
    const ProgramEnd end = run_program(command(out, {"--clip-timestamps", "100", way, audio}));
    EXPECT_EQ(end.exit_code, 0) << end.err;
    expect_output(end.err, audio + ": lasts 0:04, and none of it is within --clip-timestamps");
    const ProgramEnd within = run_program(command(out, {"--clip-timestamps", "1", way, audio}));
    EXPECT_EQ(within.err.find("--clip-timestamps"), std::string::npos) << within.err;
  }
}

TEST(OddInputs, WorkForAFileThatCannotBeWrittenIsNotCalledIdle) {
  const TempFolder out;
  std::filesystem::create_symlink("/dev/full", out / "theo.txt");
  const std::string samples = TUTTI_SOURCE_DIR "/samples/";
  const ProgramEnd end = run_program(command(out, {"--device", "cpu", samples + "theo.mp3", samples + "george.wav"}));
  EXPECT_EQ(end.exit_code, 3) << end.err;
  expect_output(end.err, "theo.txt: could not be written: No space left on device");
  expect_output(end.err, "1 of 2 files done, 1 failed");
  expect_output(end.err, "\n  other ");
}

TEST(OddInputs, DryRunRefusesAFolderAsRecording) {
  const TempFolder out;
  const ProgramEnd end = run_program(command(out, {"--dry-run", out.path()}));
  EXPECT_EQ(end.exit_code, 3) << end.err;
  expect_output(end.out, out.path().string() + ": expected a sound file, found a folder");
}

TEST(OddInputs, ConvertAndFeaturesKeepNamesFromTheTerminalToo) {
  const TempFolder folder;
  const std::string name = folder / "two\nlines\x1b[31m";
  ASSERT_TRUE(write_file_atomically(name + ".json", R"({"text": "", "segments": []})"));
  std::filesystem::copy_file(TUTTI_SOURCE_DIR "/samples/theo.mp3", name + ".mp3");
  const ProgramEnd converted =
      run_program({tutti_program(), "convert", name + ".json", "-f", "txt", "-o", folder.path()});
  EXPECT_EQ(converted.exit_code, 0) << converted.err;
  expect_output(converted.out, "two lines [31m.txt\n");
  const ProgramEnd measured = run_program({tutti_program(), "features", name + ".mp3"});
  EXPECT_EQ(measured.exit_code, 0) << measured.err;
  expect_output(measured.out, "two lines [31m.mp3 ");
}

TEST(OddInputs, DryRunReportsUnwritableOutputsWithTheRunsExitCode) {
  const TempFolder out;
  ASSERT_TRUE(write_file_atomically(out / "file", ""));
  std::filesystem::create_symlink("nowhere", out / "link");
  std::filesystem::create_symlink("loop", out / "loop");
  const std::string clip = TUTTI_SOURCE_DIR "/samples/george.wav";
  for (const std::string name : {"file", "file/below", "link", "loop"})
    for (const char* dry : {"--dry-run", "--dry-run=False"}) {
      const ProgramEnd end = run_program(command(out, {"--device", "cpu", dry, "--output-dir", out / name, clip}));
      EXPECT_EQ(end.exit_code, 4) << name << " " << dry << ": " << end.err;
      expect_output(end.err, name + ": outputs cannot be written there");
      if (name.starts_with("file")) expect_output(end.err, "Not a directory");
    }
}

TEST(OddInputs, DryRunWritesMemoryAndPlanAsJsonLines) {
  const TempFolder out;
  const std::string done = TUTTI_SOURCE_DIR "/samples/george.wav", fresh = TUTTI_SOURCE_DIR "/samples/theo.mp3";
  ASSERT_TRUE(write_file_atomically(out / "george.txt", "transcribed already\n"));
  const ProgramEnd end =
      run_program(command(out, {"--dry-run", "--json", "--skip-existing", done, fresh, "no\nfile.wav"}));
  EXPECT_EQ(end.exit_code, 3) << end.err;
  std::vector<nlohmann::json> events;
  std::istringstream lines(end.out);
  for (std::string line; std::getline(lines, line);) events.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(events.size(), 4U) << end.out;
  EXPECT_EQ(events[0].at("event"), "memory");
  EXPECT_EQ(events[0].at("compute_types").at(0).at("compute_type"), "float32");
  events.erase(events.begin());
  EXPECT_EQ(events[0], (nlohmann::json{{"event", "skipped"}, {"file", done}}));
  EXPECT_EQ(events[1].at("event"), "planned");
  EXPECT_EQ(events[1].at("outputs"), nlohmann::json::array({(out / "theo.txt").string()}));
  EXPECT_EQ(events[2].at("event"), "failed");
  EXPECT_EQ(events[2].at("file"), "no\nfile.wav");
  EXPECT_EQ(events[2].at("error"), "no\nfile.wav: No such file or directory");
}

TEST(OddInputs, AFilesNameDoesNotReachTheTerminalsControls) {
  const TempFolder folder;
  const std::string name = folder / "two\nlines\x1b[31m.wav";
  ASSERT_TRUE(write_file_atomically(name, "no sound"));
  const ProgramEnd run = run_program(command(folder, {name})), dry = run_program(command(folder, {"--dry-run", name}));
  EXPECT_EQ(run.exit_code, 3) << run.err;
  expect_output(run.err, "two lines [31m.wav: not a sound file");
  expect_output(dry.out, "two lines [31m.wav");
  EXPECT_EQ(run.err.find('\x1b'), std::string::npos);
}

TEST(OddInputs, ErrorsQuoteArgumentsAsGiven) {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), tutti_program());
    const ProgramEnd end = run_program(words);
    EXPECT_EQ(end.exit_code, 2) << end.err;
    return end.err;
  };
  expect_output(refused({"synth", "morse", "again", "--out", "x"}),
                "expected the kind 'morse', 'voice' or 'leaks', found 'morse again'");
  expect_output(refused({"plan", "--error", "2", "--gpus", "8GB:12x"}), "less than 1, found 2\n");
  expect_output(refused({"top", "--once", "--interval", "0"}), "expected 0.1 to 3600 seconds, found 0\n");
}
