// The programs as people call them: exit codes, complaints, files.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "support/expect_output.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"

using namespace tutti;

namespace {

namespace fs = std::filesystem;

std::string data(const std::string& path) {
  return (test_data() / path).string();
}

/// A clip of spoken digits.
const std::string kGeorge = TUTTI_SOURCE_DIR "/samples/george.wav";

/// `tutti transcribe` with a model that knows digits, outputs in `out`.
ProgramEnd transcribe(const TempFolder& out, std::vector<std::string> arguments) {
  std::vector<std::string> words{tutti_program(), "transcribe",   "--model",
                                 digits_model(),  "--output-dir", out.path().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_program(words);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST(Commands, HelpNamesEveryCommandAndIsAUsageErrorIfUnrequested) {
  const ProgramEnd end = run_program({tutti_program(), "--help"});
  EXPECT_EQ(end.exit_code, 0);
  for (const char* name : {"transcribe", "batch", "plan", "prepare", "train", "evaluate", "features", "convert",
                           "review", "wer", "pull", "models", "manifest", "history", "synth", "bench", "top", "doctor"})
    expect_output(end.out, "\n    " + std::string(name) + " ");
  const ProgramEnd bare = run_program({tutti_program()});
  EXPECT_EQ(bare.exit_code, 2);
  EXPECT_EQ(bare.out, end.out);
}

TEST(Commands, ASlipIsAnsweredWithTheNearestName) {
  const ProgramEnd command = run_program({tutti_program(), "transcibe"});
  EXPECT_EQ(command.exit_code, 2);
  expect_output(command.err, "Did you mean 'tutti transcribe'?");
  const ProgramEnd flag = run_program({tutti_program(), "transcribe", "--ouput-dir", "x", "a.wav"});
  EXPECT_EQ(flag.exit_code, 2);
  expect_output(flag.err, "Did you mean --output-dir?");
}

TEST(Commands, FileInsteadOfCommandSuggestsTranscribe) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "a talk.mp3", "sound"));
  const ProgramEnd end = run_program({tutti_program(), (folder / "a talk.mp3").string()});
  EXPECT_EQ(end.exit_code, 2);
  expect_output(end.err, "tutti transcribe '" + (folder / "a talk.mp3").string() + "'");
}

TEST(Commands, MissingModelErrorNamesPullCommand) {
  const ProgramEnd end = run_program({tutti_program(), "transcribe", "a.wav"}, {"TUTTI_MODEL="});
  EXPECT_EQ(end.exit_code, 2);
  expect_output(end.err, "--model");
  expect_output(end.err, "tutti pull");
}

TEST(Commands, BothProgramsPrintTheSameBuildId) {
  const ProgramEnd end = run_program({tutti_program(), "--version"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  std::istringstream lines(end.out);
  std::string control, engine;
  std::getline(lines, control);
  std::getline(lines, engine);
  expect_output(control, "tutti 0.");
  expect_output(engine, "tutti-engine 0.");
  EXPECT_EQ(control.substr(control.rfind(' ')), engine.substr(engine.rfind(' ')));
}

TEST(Commands, TuttiItselfLinksNoTensorLibrary) {
  const ProgramEnd end = run_program({"/usr/bin/ldd", tutti_program()});
  EXPECT_EQ(end.exit_code, 0);
  expect_output(end.out, "libc.so");
  // With "lib" before it: a load address, which is random, may contain "c10".
  for (const char* name : {"libtorch", "libc10", "libcuda", "libcublas", "libavcodec", "libcurl"})
    EXPECT_EQ(end.out.find(name), std::string::npos) << name << " in:\n" << end.out;
}

TEST(Commands, SettingsSayWhereTheyComeFrom) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "config.toml", "[transcribe]\nthreads = 3\n"));
  const ProgramEnd end = run_program({tutti_program(), "transcribe", "--show-config", "--task", "translate"},
                                     {"TUTTI_CONFIG=" + (folder / "config.toml").string(), "TUTTI_LANGUAGE=de"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.out, "config.toml: threads");
  expect_output(end.out, "TUTTI_LANGUAGE");
  expect_output(end.out, "# --task");
}

TEST(Serve, LargestUploadHasAUnitInAnyCaseAndABound) {
  const TempFolder folder;
  const auto complaint = [&](const char* size) {
    return run_program(
               {tutti_program(), "serve", "--state", folder.path().string(), "--max-upload", size, "--max-hours", "0"})
        .err;
  };
  for (const char* size : {"500mb", "20kib", "100B", "7", "1000000GB", "1000000000000000"})
    expect_output(complaint(size), "--max-hours: expected more than 0");
  for (const char* size : {"18446744073709551615", "1000000000000001", "1e300", "1000001GB", "0", "-5", "5xb"})
    expect_output(complaint(size), "--max-upload: expected a size");
}

TEST(Transcribe, TwoInputsOfOneStemAreRefusedBeforeAnyWork) {
  const TempFolder out;
  const ProgramEnd end = transcribe(out, {"a/clip.wav", "b/clip.wav"});
  EXPECT_EQ(end.exit_code, 2);
  expect_output(end.err, "--name-by path");
  EXPECT_TRUE(names_in(out.path()).empty());
}

TEST(Transcribe, AFileThatFailsCostsItsOwnLineAndTheOthersAreWritten) {
  TUTTI_NEEDS("damaged/mono.invalid.wav");
  TUTTI_NEEDS("formats/sonnet/p001.txt");
  const TempFolder out;
  const ProgramEnd end = transcribe(out, {kGeorge, data("damaged/mono.invalid.wav"), data("formats/sonnet/p001.txt")});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  expect_output(end.err, "mono.invalid.wav");
  expect_output(end.err, "p001.txt");
  EXPECT_EQ(names_in(out.path()),
            (std::vector<std::string>{"george.json", "george.srt", "george.tsv", "george.txt", "george.vtt"}));
  EXPECT_EQ(read_file(out / "george.txt").value(), "two four five nine one five one\n");
}

TEST(Transcribe, IncompleteWeightsAreRefusedNamingTheTensor) {
  const TempFolder out, model;
  put_model_without_embedding(model.path());
  const ProgramEnd end = run_program(
      {tutti_program(), "transcribe", "--model", model.path().string(), "--output-dir", out.path().string(), kGeorge});
  EXPECT_EQ(end.exit_code, 4) << end.err;
  expect_output(end.err, "embed_tokens");
  EXPECT_TRUE(names_in(out.path()).empty());
}

TEST(Transcribe, AnEarlierRunsFilesAreSkippedOnRequest) {
  const TempFolder out;
  const std::string& clip = kGeorge;
  ASSERT_EQ(transcribe(out, {"-f", "txt", clip}).exit_code, 0);
  const auto written = fs::last_write_time(out / "george.txt");
  const ProgramEnd again = transcribe(out, {"-f", "txt", "--skip-existing", clip});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(fs::last_write_time(out / "george.txt"), written);
  const ProgramEnd reported = transcribe(out, {"-f", "txt", "--skip-existing", "--json", clip});
  expect_output(reported.out, "{\"event\":\"skipped\",\"file\":\"" + clip + "\"}");
  const ProgramEnd gone = transcribe(out, {"-f", "txt", "--skip-existing", "--device", "cuda:63", clip});
  EXPECT_EQ(gone.exit_code, 0) << "nothing is left to do: it needs no device. " << gone.err;
  EXPECT_EQ(transcribe(out, {"-f", "txt", "--device", "cuda:63", clip}).exit_code, 4);
}

TEST(Transcribe, ADryRunReadsAndWritesNothing) {
  const TempFolder out;
  const std::string& clip = kGeorge;
  const ProgramEnd end = transcribe(out, {"--dry-run", "-f", "srt", clip});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.out, "george.srt");
  const ProgramEnd missing = transcribe(out, {"--dry-run", "-f", "srt", clip, "talks/monday.mp3"});
  EXPECT_EQ(missing.exit_code, 3);
  expect_output(missing.out, "talks/monday.mp3: No such file or directory");
  EXPECT_EQ(missing.out.find("monday.srt"), std::string::npos);
  EXPECT_TRUE(names_in(out.path()).empty());
}

TEST(Transcribe, WrongDeviceIsRefusedBeforeAnyOutputAlsoInDryRun) {
  const TempFolder folder;
  const auto on = [&](const char* device, std::vector<std::string> more = {}) {
    std::vector<std::string> words{tutti_program(),           "transcribe", "--model", digits_model(), "--output-dir",
                                   (folder / "out").string(), "--device",   device,    kGeorge};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--dry-run"}}) {
    const ProgramEnd no_device = on("gpu", more);
    EXPECT_EQ(no_device.exit_code, 2) << no_device.err;
    expect_output(no_device.err, "--device: device 'gpu'");
    EXPECT_EQ(on("cpu:1023", more).exit_code, 4);
    const ProgramEnd not_there = on("cuda:64", more);
    EXPECT_EQ(not_there.exit_code, 4) << not_there.err;
    expect_output(not_there.err, "cuda:64: there is no such GPU");
  }
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST(Transcribe, QuietPrintsOnlyErrors) {
  TUTTI_NEEDS("formats/sonnet/p001.txt");
  const TempFolder out;
  const std::vector<std::string> warned{"--language",       "de", "--compute-type", "float16", "--word-timestamps",
                                        "--max_line_count", "2",  kGeorge};
  const ProgramEnd aloud = transcribe(out, warned);
  EXPECT_EQ(aloud.exit_code, 0) << aloud.err;
  expect_output(aloud.err, "tutti: warning: the model is English-only");
  for (std::size_t at = 0; (at = aloud.err.find("tutti: ", at)) != std::string::npos; ++at)
    EXPECT_TRUE(at == 0 || aloud.err[at - 1] == '\n') << "a prefix within a line of:\n" << aloud.err;

  auto words = warned;
  words.insert(words.begin(), "-q");
  const TempFolder other;  // With -q what was replaced is named all the same: nothing is replaced here.
  const ProgramEnd quiet = transcribe(other, words);
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(quiet.out + quiet.err, "");
  words.back() = data("formats/sonnet/p001.txt");
  expect_output(transcribe(out, words).err, "tutti: error: ");
}

TEST(Commands, AFullStandardOutputIsNoSuccess) {
  for (const char* words : {"--help", "transcribe --show-config", "wer --help"}) {
    const auto end = run_program({"/bin/sh", "-c", "'" + tutti_program() + "' " + words + " > /dev/full"});
    EXPECT_EQ(end.exit_code, 3) << words;
    expect_output(end.err, "standard output");
  }
}

TEST(Commands, AnEvaluationThatStandardOutputDidNotTakeIsNoSuccess) {
  const TempFolder folder;
  const std::string corpus = folder / "morse";
  ASSERT_EQ(run_program({tutti_program(), "synth", "morse", "--count", "1", "--out", corpus}).exit_code, 0);
  const auto end =
      run_program({"/bin/sh", "-c",
                   "'" + tutti_program() + "' evaluate --json --model '" TUTTI_SOURCE_DIR "/models/nano' --data '" +
                       corpus + "' > /dev/full"});
  EXPECT_EQ(end.exit_code, 3) << end.err;
  expect_output(end.err, "standard output");
}

TEST(Commands, DeletedCurrentFolderIsReported) {
  const TempFolder folder;
  const auto end =
      run_program({"/bin/sh", "-c",
                   "mkdir '" + (folder / "gone").string() + "' && cd '" + (folder / "gone").string() + "' && rmdir '" +
                       (folder / "gone").string() + "' && '" + tutti_program() + "' models"});
  EXPECT_EQ(end.exit_code, 4) << end.err;
  expect_output(end.err, "current folder no longer exists");
}

TEST(Transcribe, ATokenThatTheModelDoesNotHaveIsRefusedOnce) {
  const TempFolder out;
  const int tokens = nlohmann::json::parse(read_file(digits_model() / "config.json").value())["vocab_size"];
  const ProgramEnd end = transcribe(out, {"--suppress-tokens=-1,60000", kGeorge});
  EXPECT_EQ(end.exit_code, 2) << end.err;
  expect_output(end.err, "--suppress-tokens: token 60000");
  expect_output(end.err, "0 to " + std::to_string(tokens - 1));
}

TEST(Convert, WritesTheSameSubtitlesAsTheTranscriptionDid) {
  const TempFolder out, converted;
  ASSERT_EQ(transcribe(out, {TUTTI_SOURCE_DIR "/samples/mixed.m4a"}).exit_code, 0);
  const ProgramEnd end = run_program(
      {tutti_program(), "convert", (out / "mixed.json").string(), "--output-dir", converted.path().string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  for (const char* name : {"mixed.srt", "mixed.vtt", "mixed.tsv", "mixed.txt"})
    EXPECT_EQ(read_file(converted / name).value(), read_file(out / name).value()) << name;
}

TEST(Convert, NeverOverwritesTheTranscriptItReads) {
  const TempFolder folder;
  const std::string transcript = R"({"text": "hello", "segments": [], "of_another_program": 7})";
  ASSERT_TRUE(write_file_atomically(folder / "talk.json", transcript));
  const ProgramEnd end = run_program(
      {tutti_program(), "convert", (folder / "talk.json").string(), "-f", "json", "-o", folder.path().string()});
  EXPECT_EQ(end.exit_code, 2);
  expect_output(end.err, "would be overwritten");
  EXPECT_EQ(read_file(folder / "talk.json").value(), transcript);
}

TEST(Convert, WarnsOfFlagsThatAreForModels) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.json", R"({"text": "hello", "segments": []})"));
  const ProgramEnd end = run_program({tutti_program(), "convert", (folder / "talk.json").string(), "-f", "srt",
                                      "--type", "int8", "-o", folder.path().string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  expect_output(end.err, "--type has no effect on transcripts");
}

TEST(Convert, RefusesTurnsOfATranscriptWithoutSpeakers) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.json",
                                    R"({"text": "hello", "segments": [{"start": 0, "end": 1, "text": " hello"}]})"));
  const ProgramEnd end = run_program(
      {tutti_program(), "convert", (folder / "talk.json").string(), "-f", "rttm", "-o", folder.path().string()});
  EXPECT_EQ(end.exit_code, 3);
  expect_output(end.err, "no segment names its speaker");
  EXPECT_FALSE(std::filesystem::exists(folder / "talk.rttm"));
}

TEST(Convert, TranscriptOfSilenceHasNoTurns) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "still.json",
                                    R"({"text": "", "segments": [{"start": 0, "end": 9, "text": "", "words": []}]})"));
  const ProgramEnd end = run_program(
      {tutti_program(), "convert", (folder / "still.json").string(), "-f", "rttm", "-o", folder.path().string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(read_file(folder / "still.rttm").value(), "");
}

TEST(Wer, PrintsTheContractsJson) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "ref", "the quick brown fox\n"));
  ASSERT_TRUE(write_file_atomically(folder / "hyp", "the quick brawn fox jumps\n"));
  const ProgramEnd end = run_program(
      {tutti_program(), "wer", "--ref", (folder / "ref").string(), "--hyp", (folder / "hyp").string(), "--json"});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto rates = nlohmann::json::parse(end.out);
  EXPECT_DOUBLE_EQ(rates["wer"], 0.5);
  EXPECT_EQ(rates["words"], 4);
  EXPECT_GT(rates["cer"].get<double>(), 0.0);
}

TEST(Wer, BasicNormaliserSplitsCjkAndDropsDiacriticsOnRequest) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "ref", "\xE6\xB5\x8B\xE8\xAF\x95 caf\xC3\xA9\n"));  // two signs and a word
  ASSERT_TRUE(write_file_atomically(folder / "hyp", "\xE6\xB5\x8B\xE5\x86\x8D cafe\n"));  // the second sign differs
  const auto compared = [&](std::vector<std::string> more) {
    std::vector<std::string> words{
        tutti_program(), "wer", "--json", "--ref", (folder / "ref").string(), "--hyp", (folder / "hyp").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const auto rate = [&](std::vector<std::string> more) {
    return nlohmann::json::parse(compared(std::move(more)).out).at("wer").get<double>();
  };
  EXPECT_DOUBLE_EQ(rate({"--normalizer", "basic"}), 1.0);
  EXPECT_DOUBLE_EQ(rate({"--normalizer", "basic", "--remove-diacritics"}), 0.5);
  EXPECT_NEAR(rate({"--normalizer", "basic", "--remove_diacritics", "True", "--split_letters", "True"}), 1.0 / 6,
              1e-12);
  const auto refused = compared({"--split-letters"});
  EXPECT_EQ(refused.exit_code, 2);
  expect_output(refused.err, "--normalizer basic");
}

TEST(Features, EveryFormatDecodesAndNonAudioIsReported) {
  TUTTI_NEEDS("formats/sonnet");
  std::vector<std::string> words{tutti_program(), "features"};
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(data("formats/sonnet"))) {
    words.push_back(entry.path().string());
    names.insert(entry.path().filename().string());
  }
  const ProgramEnd end = run_program(words);
  EXPECT_EQ(end.exit_code, 3);
  for (const char* name : {"p001.empty", "p001.txt"}) {
    expect_output(end.err, name);
    EXPECT_EQ(names.erase(name), 1U) << name;
  }
  EXPECT_GE(names.size(), 6U);
  for (const std::string& name : names) expect_output(end.out, name);
}

TEST(Features, TunedRunHasTheLinesOfOneThreadInTheirOrder) {
  TUTTI_NEEDS("vad/speech.wav");
  const TempFolder cache;
  const auto lines_of = [&](std::vector<std::string> flags) {
    std::vector<std::string> words{tutti_program(), "features", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    for (int i = 0; i < 30; ++i) {
      words.push_back(data("vad/speech.wav"));
      words.push_back(data("vad/silence.wav"));
    }
    const ProgramEnd end = run_program(words, {"TUTTI_CACHE=" + cache.path().string()});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    std::vector<nlohmann::json> lines;
    std::istringstream text(end.out);
    for (std::string line; std::getline(text, line);) {
      auto json = nlohmann::json::parse(line);
      if (json.contains("tuning")) continue;
      json.erase("spent");
      lines.push_back(std::move(json));
    }
    return lines;
  };
  const auto untuned = lines_of({"--no-tune"});
  ASSERT_EQ(untuned.size(), 60U);
  EXPECT_EQ(lines_of({"--memory", "64GiB"}), untuned);
  EXPECT_EQ(run_program({tutti_program(), "features", "--memory", "much", data("vad/speech.wav")}).exit_code, 2);
}

TEST(Features, StandardInputHoldsNamesOrOneRecording) {
  const std::string wav = TUTTI_SOURCE_DIR "/samples/george.wav", mp3 = TUTTI_SOURCE_DIR "/samples/theo.mp3";
  const auto files_of = [&](const std::string& writer) {
    const auto end = run_program({"/bin/sh", "-c", writer + " | " + tutti_program() + " features --json --no-tune -"});
    EXPECT_EQ(end.exit_code, 0) << end.err;
    std::vector<std::string> files;
    std::istringstream text(end.out);
    for (std::string line; std::getline(text, line);) files.push_back(nlohmann::json::parse(line)["file"]);
    return files;
  };
  const std::vector<std::string> both{wav, mp3}, audio{"-"};
  EXPECT_EQ(files_of("printf '%s\\0%s\\0' '" + wav + "' '" + mp3 + "'"), both) << "as find -print0 writes";
  EXPECT_EQ(files_of("printf '%s\\n%s\\n' '" + wav + "' '" + mp3 + "'"), both);
  for (const std::string& recording : both) EXPECT_EQ(files_of("cat '" + recording + "'"), audio) << recording;
  const auto none = run_program({"/bin/sh", "-c", "exec " + tutti_program() + " features - < /dev/null"});
  EXPECT_EQ(none.exit_code, 2) << none.err;
}

TEST(Features, WithVadReportsSpeechAndItsShare) {
  TUTTI_NEEDS("vad/speech.wav");
  const auto features_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), {tutti_program(), "features", "--json"});
    const ProgramEnd end = run_program(words);
    EXPECT_EQ(end.exit_code, 0) << end.err;
    std::vector<nlohmann::json> lines;
    std::istringstream in(end.out);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  };
  const auto found =
      features_of({"--vad", "--vad-speech-pad-ms", "30", data("vad/speech.wav"), data("vad/silence.wav")});
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[0]["speech"].size(), 1U);
  EXPECT_LT(found[0]["speech"][0]["start"].get<double>(), found[0]["speech"][0]["end"].get<double>());
  EXPECT_FALSE(found[0]["speech"][0]["forced_cut"].get<bool>());
  EXPECT_LT(found[0]["frames"].get<int>(), 100);
  EXPECT_TRUE(found[1]["speech"].empty());
  EXPECT_EQ(found[1]["windows"], 0);

  const auto whole = features_of({data("vad/speech.wav")});
  ASSERT_EQ(whole.size(), 1U);
  EXPECT_EQ(whole[0]["frames"], 100);
  EXPECT_FALSE(whole[0].contains("speech"));
  expect_output(run_program({tutti_program(), "features", "--vad-threshold", "0.3", data("vad/speech.wav")}).err,
                "--vad");
}
