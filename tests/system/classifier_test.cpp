// A classifier as people make one: from folders of recordings to a line for each file.

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "support/digit_recordings.h"
#include "support/run_program.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "system/training_runs.h"

using namespace tutti;

namespace fs = std::filesystem;

namespace {

/// Puts digits into `folder`/DIGIT: those of `labels`, recordings [first, last) of every speaker.
void put_digits(const fs::path& folder, const std::string& labels, int first, int last) {
  for (const char digit : labels)
    for (const char* speaker : kDigitSpeakers)
      for (int number = first; number < last; ++number)
        put_digit(folder / std::string(1, digit), digit - '0', speaker, number);
}

ProgramEnd prepare(const fs::path& data, const fs::path& set, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{tutti_program(), "prepare", "classifier", "--data",
                                 data.string(),   "--out",   set.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

std::vector<std::string> training_of(const fs::path& set, const fs::path& out, const std::vector<std::string>& more) {
  std::vector<std::string> words{
      tutti_program(), "train", "classifier",        "--data", set.string(), "--out", out.string(),
      "--device",      "cpu",   "--compute-threads", "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// A WAV file with what another holds, so many times; its header has 44 bytes.
std::string repeated_wav(const std::string& wav, int times) {
  constexpr std::size_t kHead = 44, kRiffSize = 4, kDataSize = 40;
  std::string samples;
  for (int i = 0; i < times; ++i) samples += wav.substr(kHead);
  std::string repeated = wav.substr(0, kHead) + samples;
  const auto put = [&](std::size_t at, std::uint32_t value) {
    std::memcpy(repeated.data() + at, &value, sizeof value);
  };
  put(kRiffSize, static_cast<std::uint32_t>(samples.size() + kHead - 8));
  put(kDataSize, static_cast<std::uint32_t>(samples.size()));
  return repeated;
}

std::vector<nlohmann::json> answers_of(const std::string& out) {
  std::istringstream text(out);
  std::vector<nlohmann::json> answers;
  for (std::string line; std::getline(text, line);) answers.push_back(nlohmann::json::parse(line));
  return answers;
}

/// The share of a folder's files that are called as their own folder is.
double accuracy_of(const fs::path& model, const fs::path& folder) {
  const auto end = run_program({tutti_program(), "classify", "--model", model.string(), "--json", folder.string()});
  EXPECT_EQ(end.exit_code, 0) << end.err;
  const auto answers = answers_of(end.out);
  std::int64_t right = 0;
  for (const auto& answer : answers)
    right += answer["label"].get<std::string>() == fs::path(answer["file"].get<std::string>()).parent_path().filename();
  return static_cast<double>(right) / static_cast<double>(answers.size());
}

/// Checks --over-time, --csv and --copy-to on a recording of three clips.
void expect_answers_over_time(const fs::path& model, const fs::path& work) {
  const auto long_file = (work / "long.wav").string();
  const auto command = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{tutti_program(), "classify", "--model", model.string()};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  };
  const auto end =
      command({"--json", "--over-time", "--copy-to", (work / "sorted").string(), "--min-score", "0", long_file});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto answer = answers_of(end.out).at(0);
  ASSERT_GE(answer["clips"].size(), 2) << answer;
  EXPECT_EQ(answer["clips"][0]["end"], answer["clips"][1]["start"]);
  EXPECT_TRUE(fs::exists(work / "sorted" / answer["label"].get<std::string>() / "long.wav")) << end.err;
  const auto table = command({"--csv", "--over-time", long_file});
  EXPECT_EQ(std::ranges::count(table.out, '\n'), 1 + static_cast<std::int64_t>(answer["clips"].size())) << table.out;
  const auto inside = command({"--copy-to", (work / "held/sorted").string(), (work / "held").string()});
  EXPECT_EQ(inside.exit_code, 2) << inside.err;
}

/// Checks that the page of a set with waveforms plays its worst files without the folder they came from.
void expect_waveforms_played(const fs::path& model, const fs::path& set, const fs::path& page) {
  const auto end = run_program({tutti_program(), "evaluate", "--model", model.string(), "--data", set.string(),
                                "--split", "train", "--report", page.string()});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto html = read_file(page).value();
  const bool has_wrong = html.find("Wrong with the highest score") != std::string::npos;
  EXPECT_EQ(html.find("src=\"data:audio/wav;base64,UklGR") != std::string::npos, has_wrong) << end.out;
}

}  // namespace

TEST(Classifier, PreparedTrainedAndNamedByTheContract) {
  const TempFolder work;
  put_digits(work / "known", "037", 5, 17);
  put_digits(work / "held", "037", 0, 2);
  const auto prepared = prepare(work / "known", work / "set", {"--waveforms"});
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_NE(prepared.out.find("216 of 216 files"), std::string::npos) << prepared.out;
  const auto end = run_program(training_of(work / "set", work / "out", {"--epochs", "12"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  for (const char* file : {"model.safetensors", "config.json", "model_meta.json"})
    EXPECT_TRUE(fs::exists(work.path() / "out/model" / file)) << file;
  EXPECT_GT(accuracy_of(work / "out/model", work / "held"), 0.8);
  const auto scored = run_program({tutti_program(), "evaluate", "--model", (work / "out/model").string(), "--data",
                                   (work / "set").string(), "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const auto scores = nlohmann::json::parse(scored.out);
  std::int64_t files = 0, right = 0;
  for (std::size_t label = 0; label < 3; ++label) {
    right += scores["confusion"][label][label].get<std::int64_t>();
    for (const auto& count : scores["confusion"][label]) files += count.get<std::int64_t>();
  }
  EXPECT_EQ(scores["files"], files);
  EXPECT_DOUBLE_EQ(scores["accuracy"].get<double>(), static_cast<double>(right) / static_cast<double>(files));
  EXPECT_GT(scores["labels"]["0"]["roc_auc"].get<double>(), 0.8);
  const auto page = work / "page.html";
  const auto shown =
      run_program({tutti_program(), "evaluate", "--model", (work / "out/model").string(), "--data",
                   (work / "set").string(), "--report", page.string(), "--audio", (work / "known").string()});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  const auto html = read_file(page).value();
  for (const char* part : {"What is taken for what", "ROC", "Calibration"})
    EXPECT_NE(html.find(part), std::string::npos) << part;
  expect_waveforms_played(work / "out/model", work / "set", page);

  ASSERT_TRUE(write_file_atomically(work / "no-sound.wav", "this is a text"));
  const auto file = (work / "held/7/7_theo_1.wav").string(), bad = (work / "no-sound.wav").string();
  const auto named =
      run_program({tutti_program(), "classify", "--model", (work / "out/model").string(), "--json", bad, file});
  EXPECT_EQ(named.exit_code, 3);
  const auto answers = answers_of(named.out);
  ASSERT_EQ(answers.size(), 2) << named.out;
  EXPECT_EQ(answers[0]["file"], bad);
  EXPECT_TRUE(answers[0]["error"].is_string());
  EXPECT_EQ(answers[1]["file"], file);
  EXPECT_EQ(answers[1].size(), 4);
  double sum = 0, most = 0;
  for (const auto& [label, probability] : answers[1]["scores"].items()) {
    sum += probability.get<double>();
    most = std::max(most, probability.get<double>());
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_EQ(answers[1]["score"], most);
  EXPECT_EQ(answers[1]["scores"][answers[1]["label"].get<std::string>()], most);
  fs::copy_file(TUTTI_SOURCE_DIR "/samples/LJ003-0002.flac", work / "long.wav");
  expect_answers_over_time(work / "out/model", work.path());
}

TEST(Classifier, KilledTrainingResumesToTheSameBits) {
  const TempFolder work;
  put_digits(work / "known", "16", 5, 12);
  ASSERT_EQ(prepare(work / "known", work / "set").exit_code, 0);
  const std::vector<std::string> steps{"--epochs", "6", "--save-steps", "7", "--log-order"};
  ASSERT_EQ(run_program(training_of(work / "set", work / "whole", steps)).exit_code, 0);
  {
    RunningProgram killed(training_of(work / "set", work / "killed", steps));
    ASSERT_TRUE(killed.saw("epoch 3:"));
    ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
    ASSERT_EQ(killed.wait().exit_code, 128 + SIGKILL);
  }
  const auto resumed =
      run_program({tutti_program(), "train", "classifier", "--out", (work / "killed").string(), "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto bytes = [&](const char* folder, const char* file) {
    return read_file(work.path() / folder / file).value();
  };
  EXPECT_TRUE(bytes("whole", "model/model.safetensors") == bytes("killed", "model/model.safetensors"));
  EXPECT_EQ(bytes("whole", "order.jsonl"), bytes("killed", "order.jsonl"));
}

TEST(Classifier, KilledTwoStageTrainingResumesToTheSameBits) {
  const TempFolder work;
  put_digits(work / "known", "167", 5, 11);
  ASSERT_EQ(prepare(work / "known", work / "set").exit_code, 0);
  const std::vector<std::string> steps{"--two-stage",   "--against", "6",       "--epochs", "4",
                                       "--noise-share", "0.5",       "--mixup", "0.3",      "--use-specaugment"};
  const auto whole = run_program(training_of(work / "set", work / "whole", steps));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  for (const char* stage : {"stage 1 of 2", "stage 2 of 2"}) EXPECT_NE(whole.err.find(stage), std::string::npos);
  {
    RunningProgram killed(training_of(work / "set", work / "killed", steps));
    ASSERT_TRUE(killed.saw("epoch 2:"));
    ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
    ASSERT_EQ(killed.wait().exit_code, 128 + SIGKILL);
  }
  ASSERT_FALSE(fs::exists(work / "killed/model"));
  const auto resumed =
      run_program({tutti_program(), "train", "classifier", "--out", (work / "killed").string(), "--resume"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  for (const char* file : {"model/model.safetensors", "screen/model/model.safetensors"})
    EXPECT_TRUE(read_file(work / "whole" / file).value() == read_file(work / "killed" / file).value()) << file;
  const auto labels = [&](const char* model) {
    return nlohmann::json::parse(read_file(work / "whole" / model / "config.json").value())["labels"].dump();
  };
  EXPECT_EQ(labels("screen/model"), R"(["6","NOT_6"])");
  EXPECT_EQ(labels("model"), R"(["1","6","7"])");
  const auto scored = run_program({tutti_program(), "evaluate", "--model", (work / "whole/screen/model").string(),
                                   "--data", (work / "set").string(), "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  EXPECT_EQ(nlohmann::json::parse(scored.out)["labels"].size(), 2);
}

TEST(Classifier, KilledPrepareGoesOnToTheSameSet) {
  const TempFolder work;
  put_digits(work / "known", "12345", 5, 25);
  ASSERT_EQ(prepare(work / "known", work / "whole", {"--waveforms"}).exit_code, 0);
  const auto spool = work / "killed/features.part";
  {
    RunningProgram killed({tutti_program(), "prepare", "classifier", "--data", (work / "known").string(), "--out",
                           (work / "killed").string(), "--threads", "1", "--waveforms"});
    std::error_code ignored;
    constexpr std::uintmax_t kSomeClips = 100'000;
    while (!fs::exists(spool, ignored) || fs::file_size(spool, ignored) < kSomeClips) std::this_thread::yield();
    ASSERT_EQ(::kill(killed.pid(), SIGKILL), 0);
    ASSERT_EQ(killed.wait().exit_code, 128 + SIGKILL);
  }
  ASSERT_FALSE(fs::exists(work / "killed/TRAINING_DATASET.H5"));
  const auto end = prepare(work / "known", work / "killed", {"--waveforms"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("had been computed by an earlier run"), std::string::npos) << end.out;
  EXPECT_FALSE(fs::exists(spool));
  for (const std::string file : {"TRAINING_DATASET.H5", "VALIDATION_DATASET.H5", "TESTING_DATASET.H5",
                                 "TRAINING_WAVEFORMS.H5", "VALIDATION_WAVEFORMS.H5", "TESTING_WAVEFORMS.H5"}) {
    const auto whole = read_file(work / "whole" / file).value(), killed = read_file(work / "killed" / file).value();
    ASSERT_EQ(whole.size(), killed.size()) << file;
    std::size_t different = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) different += whole[i] != killed[i];
    constexpr std::size_t kTimeText = 20;  // created_at_utc is the one thing that may differ
    EXPECT_LE(different, kTimeText) << file;
  }
}

TEST(Classifier, SurrogatesAreLearnedAndNeverValidated) {
  const TempFolder work;
  ASSERT_EQ(run_program({tutti_program(), "synth", "leaks", "--count", "40", "--sensors", "4", "--out",
                         (work / "leaks").string()})
                .exit_code,
            0);
  ASSERT_EQ(prepare(work / "leaks", work / "plain").exit_code, 0);
  const auto end = prepare(work / "leaks", work / "more", {"--surrogates", "1"});
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.out.find("surrogates of training files were added"), std::string::npos) << end.out;
  const auto held = [&](const char* set, const char* part) {
    return read_file(work / set / (std::string(part) + "_DATASET.H5")).value();
  };
  EXPECT_EQ(held("plain", "TRAINING").find("~iaaft1"), std::string::npos);
  EXPECT_NE(held("more", "TRAINING").find("~iaaft1"), std::string::npos);
  for (const char* part : {"VALIDATION", "TESTING"}) {
    EXPECT_EQ(held("plain", part).size(), held("more", part).size()) << part;
    EXPECT_EQ(held("more", part).find("~iaaft1"), std::string::npos) << part;
  }
}

TEST(Classifier, RecordingOnStandardInputIsNamed) {
  const TempFolder work;
  const std::string model = TUTTI_SOURCE_DIR "/models/leaks";
  ASSERT_EQ(
      run_program({tutti_program(), "synth", "leaks", "--count", "1", "--out", (work / "leaks").string()}).exit_code,
      0);
  std::string clip;
  for (const auto& entry : fs::recursive_directory_iterator(work / "leaks"))
    if (entry.path().extension() == ".wav") clip = entry.path().string();
  const auto named = run_program({tutti_program(), "classify", "--model", model, "--json", clip});
  const std::string shell = "exec " + tutti_program() + " classify --model " + model + " --json - ";
  const auto audio = run_program({"/bin/sh", "-c", shell + "< '" + clip + "'"});
  ASSERT_EQ(audio.exit_code, 0) << audio.err;
  const auto answer = answers_of(audio.out).at(0);
  EXPECT_EQ(answer["file"], "-");
  EXPECT_EQ(answer["scores"], answers_of(named.out).at(0)["scores"]);
  const auto listed = run_program({"/bin/sh", "-c", "echo '" + clip + "' | " + shell});
  EXPECT_EQ(listed.out, named.out);
  const auto dos = run_program({"/bin/sh", "-c", "printf '\\357\\273\\277%s\\r\\n' '" + clip + "' | " + shell});
  EXPECT_EQ(dos.out, named.out) << "a list as Windows writes it";
  const auto ended_by_nuls = run_program({"/bin/sh", "-c", "printf '%s\\0' '" + clip + "' | " + shell});
  EXPECT_EQ(ended_by_nuls.out, named.out) << "a list as find -print0 writes it";
  const auto beside =
      run_program({"/bin/sh", "-c", "printf '%s\\0%s\\0' '" + clip + "' '" + clip + "' | " + shell + clip});
  EXPECT_EQ(beside.out, named.out + named.out + named.out) << beside.err;
  const auto slow = run_program({"/bin/sh", "-c",
                                 "mkfifo '" + (work / "names").string() + "'; " + shell + "< '" +
                                     (work / "names").string() + "' | { exec 3> '" + (work / "names").string() +
                                     "'; echo '" + clip + "' >&3; timeout 20 head -n 1; }"});
  EXPECT_EQ(slow.out, named.out) << "the answer comes while the list goes on";
  fs::create_directory(work / "empty");
  const auto gone = run_program(
      {tutti_program(), "classify", "--model", model, (work / "gone.wav").string(), (work / "empty").string()});
  EXPECT_EQ(gone.out, (work / "gone.wav").string() + ": cannot be opened: No such file or directory\n");
  EXPECT_NE(gone.err.find((work / "empty").string() + ": holds no recording"), std::string::npos) << gone.err;
}

TEST(Classifier, FoldersOfRecordingsAreTrainedAsTheyAre) {
  const TempFolder work;
  put_digits(work / "known", "03", 5, 8);
  const auto end = run_program(training_of(work / "known", work / "out", {"--epochs", "1"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("36 of 36 recordings of 2 labels are prepared"), std::string::npos) << end.err;
  EXPECT_TRUE(fs::exists(work / "out/set/TRAINING_DATASET.H5"));
  const auto resumed = run_program({tutti_program(), "train", "classifier", "--data", (work / "known").string(),
                                    "--out", (work / "out").string(), "--resume", "--epochs", "2", "--device", "cpu"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(resumed.err.find("are prepared"), std::string::npos) << "the set is there";
  const auto learned = read_file(work / "out/set/TRAINING_DATASET.H5").value();
  put_digits(work / "other", "12", 5, 8);
  const auto other = run_program(training_of(work / "other", work / "out", {"--epochs", "1"}));
  EXPECT_EQ(other.exit_code, 2) << other.err;
  EXPECT_NE(other.err.find("holds a training already, and its set would be replaced"), std::string::npos) << other.err;
  EXPECT_EQ(read_file(work / "out/set/TRAINING_DATASET.H5").value(), learned)
      << "the training goes on with its own set";
}

TEST(Classifier, ABatchThatIsNamedHoldsOnASmallSet) {
  const TempFolder work;
  put_digits(work / "known", "03", 5, 8);
  const auto line_of = [&](const std::string& out, const std::vector<std::string>& more) {
    auto words = more;
    words.insert(words.end(), {"--epochs", "1"});
    const auto end = run_program(training_of(work / "known", work / out, words));
    EXPECT_EQ(end.exit_code, 0) << end.err;
    const auto at = end.err.find("batch-size: ");
    return at == std::string::npos ? "" : end.err.substr(at, end.err.find('\n', at) - at);
  };
  EXPECT_NE(line_of("small", {}).find("instead of 8192, so that an epoch has 20 steps"), std::string::npos);
  EXPECT_EQ(line_of("named", {"--batch-size", "8192"}), "");
  EXPECT_NE(line_of("both", {"--batch-size", "8192", "--least-steps", "5"}).find("an epoch has 5 steps"),
            std::string::npos);
}

TEST(Classifier, TuningIsRecordedAndItsBestTrained) {
  const TempFolder work;
  put_digits(work / "known", "03", 5, 14);
  ASSERT_EQ(prepare(work / "known", work / "set").exit_code, 0);
  const auto end = run_program(
      training_of(work / "set", work / "out", {"--epochs", "4", "--tune-minutes", "0.1", "--learning-rate", "0.0123"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  const auto trials = answers_of(read_file(work / "out/tuning.jsonl").value());
  ASSERT_GE(trials.size(), 1);
  EXPECT_EQ(trials[0]["learning_rate"], 0.0123);
  const auto& best = *std::ranges::min_element(trials, {}, [](const auto& trial) {
    return trial["whole"].template get<bool>() ? trial["rank"].template get<double>() : 1e9;
  });
  const auto settings = read_file(work / "out/config.toml").value();
  if (best["whole"].get<bool>())
    EXPECT_NE(settings.find("batch-size = " + best["batch_size"].dump()), std::string::npos) << settings;
  else  // on a busy machine
    EXPECT_NE(end.err.find("no trial was over in time"), std::string::npos) << end.err;
  EXPECT_FALSE(fs::exists(work / "out/tuning-trial"));
  const auto record = read_file(work / "out/tuning.jsonl").value();
  const auto resumed = run_program({tutti_program(), "train", "classifier", "--out", (work / "out").string(),
                                    "--resume", "--epochs", "5", "--device", "cpu"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_file(work / "out/tuning.jsonl").value(), record) << "a training that goes on is not tuned again";
}

TEST(Classifier, LongRecordingsVoteWithTheirClips) {
  const TempFolder work;
  for (const char* label : {"0", "7"})
    for (int i = 0; i < 5; ++i) {
      // One digit again and again: some seconds.
      fs::create_directories(work / "known" / label);
      put_digit(work / "parts" / label, label[0] - '0', kDigitSpeakers[i], 5);
      const std::string speaker = kDigitSpeakers[i];
      const auto part = read_file(work / "parts" / label / (std::string(label) + "_" + speaker + "_5.wav")).value();
      ASSERT_TRUE(write_file_atomically(work / "known" / label / (speaker + ".wav"), repeated_wav(part, 12)));
    }
  const auto prepared = prepare(work / "known", work / "set", {"--seconds", "0.8"});
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  EXPECT_NE(prepared.out.find("several of each longer file, in one part"), std::string::npos) << prepared.out;
  const auto one = prepare(work / "known", work / "one", {"--seconds", "0.8", "--clips-per-file", "1"});
  EXPECT_NE(one.out.find("are longer than the clip, and were cut"), std::string::npos) << one.out;
  // A network that learns nothing: the baseline ships, and the training goes on from there.
  const auto end = run_program(training_of(work / "set", work / "out", {"--epochs", "1", "--learning-rate", "1e-9"}));
  ASSERT_EQ(end.exit_code, 0) << end.err;
  EXPECT_NE(end.err.find("baseline: accuracy"), std::string::npos) << end.err;
  const auto result = nlohmann::json::parse(read_file(work / "out/result.json").value());
  EXPECT_EQ(result["ships"], "baseline") << result;
  EXPECT_TRUE(nlohmann::json::parse(read_file(work / "out/model/config.json").value()).contains("baseline"));
  EXPECT_TRUE(fs::exists(work / "out/network/model.safetensors"));
  const auto scored = run_program({tutti_program(), "evaluate", "--model", (work / "out/model").string(), "--data",
                                   (work / "set").string(), "--split", "train", "--json"});
  ASSERT_EQ(scored.exit_code, 0) << scored.err;
  const auto scores = nlohmann::json::parse(scored.out);
  EXPECT_GT(scores["clips"].get<int>(), 3 * scores["files"].get<int>()) << scored.out;
  EXPECT_EQ(scores["vote"], "mean of log-probabilities");
  const auto file = (work / "known/7" / (std::string(kDigitSpeakers[0]) + ".wav")).string();
  const auto named = run_program(
      {tutti_program(), "classify", "--model", (work / "out/model").string(), "--json", "--over-time", file});
  ASSERT_EQ(named.exit_code, 0) << named.err;
  const auto answer = answers_of(named.out).at(0);
  ASSERT_GE(answer["clips"].size(), 3U);
  std::map<std::string, double> votes;
  double all = 0;
  for (const auto& [label, score] : answer["scores"].items()) {
    double sum = 0;
    for (const auto& clip : answer["clips"]) sum += std::log(std::max(clip["scores"][label].get<double>(), 1e-7));
    all += votes[label] = std::exp(sum / static_cast<double>(answer["clips"].size()));
  }
  for (const auto& [label, vote] : votes) EXPECT_NEAR(answer["scores"][label].get<double>(), vote / all, 1e-4) << label;
  const auto resumed = run_program({tutti_program(), "train", "classifier", "--out", (work / "out").string(),
                                    "--resume", "--epochs", "6", "--learning-rate", "3e-3", "--device", "cpu"});
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
}

TEST(Classifier, DamagedFilesAreListedAndNeverLearned) {
  const TempFolder work;
  put_digits(work / "known", "12", 5, 9);
  put_digit(work / "others", 1, "george", 0);
  put_digit(work / "others", 1, "theo", 5);
  const auto whole = read_file(work / "others/1_george_0.wav").value();
  ASSERT_TRUE(write_file_atomically(work / "known/1/cut.wav", whole.substr(0, whole.size() / 2)));
  ASSERT_TRUE(write_file_atomically(work / "known/1/empty.wav", ""));
  ASSERT_TRUE(
      write_file_atomically(work / "known/2/silent.wav", whole.substr(0, 44) + std::string(whole.size() - 44, '\0')));
  const auto end = prepare(work / "known", work / "set");
  ASSERT_EQ(end.exit_code, 0) << end.err;
  std::set<std::string> listed;
  for (const auto& line : lines_of(work / "set/bad_samples.jsonl")) listed.insert(line["id"]);
  EXPECT_EQ(listed, (std::set<std::string>{"1/cut.wav", "1/empty.wav", "2/silent.wav"}));
  EXPECT_NE(end.out.find("48 of 51 files"), std::string::npos) << end.out;
  ASSERT_TRUE(write_file_atomically(work / "known/1/S1~R1~T1~1.wav", whole));
  ASSERT_TRUE(write_file_atomically(work / "known/2/other.wav", read_file(work / "others/1_theo_5.wav").value()));
  const auto named = run_program({tutti_program(), "prepare", "classifier", "--data", (work / "known").string(),
                                  "--out", (work / "set").string(), "--dry-run"},
                                 {"BUILDER_LOG_LEVEL=DEBUG"});
  for (const char* why :
       {"1/S1~R1~T1~1.wav: left out: a gain of 1 dB", "2/other.wav: left out: has the content of 1/",
        "1/1_theo_5.wav: left out: has the content of 2/", "1/empty.wav: left out: the file is empty"})
    EXPECT_NE(named.err.find(why), std::string::npos) << why << "\n" << named.err;
}

TEST(Classifier, SetsWithNothingToLearnEndWithExitCode2) {
  const TempFolder work;
  put_digits(work / "one", "1", 5, 7);
  const auto one = prepare(work / "one", work / "set");
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_NE(one.err.find("expected two labels or more, found 1"), std::string::npos) << one.err;
  fs::create_directories(work / "none");
  EXPECT_EQ(prepare(work / "none", work / "set").exit_code, 2);
  put_digits(work / "few", "12", 5, 7);
  const auto few = prepare(work / "few", work / "set", {"--group", "^[0-9]"});
  EXPECT_EQ(few.exit_code, 2);
  EXPECT_NE(few.err.find("'1' has 1 (12 files)"), std::string::npos) << few.err;
}

TEST(ClassifierLong, ShuffledLabelsStayAtChance) {
  TUTTI_NEEDS("digits/0_george_0.wav");
  const TempFolder work;
  put_digits(work / "plain", "0123456789", 5, 15);
  int number = 0;
  for (const auto& entry : fs::recursive_directory_iterator(work / "plain")) {
    if (!entry.is_symlink()) continue;
    const auto label = work.path() / "shuffled" / std::to_string(number++ % 3);
    fs::create_directories(label);
    fs::create_symlink(fs::read_symlink(entry.path()), label / entry.path().filename());
  }
  ASSERT_EQ(prepare(work / "shuffled", work / "set").exit_code, 0);
  ASSERT_EQ(run_program(training_of(work / "set", work / "out", {"--epochs", "15"})).exit_code, 0);
  const auto metrics = lines_of(work / "out/metrics.jsonl");
  for (const auto& line : metrics)
    EXPECT_LT(line.value("evaluation", nlohmann::json::object()).value("accuracy", 0.0), 0.5) << line;
}
