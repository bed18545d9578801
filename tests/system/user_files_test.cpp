// That no command writes onto what it reads, whatever the file is called, and that a batch leaves users' files alone.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/expect_output.h"
#include "support/test_data.h"
#include "system/batch_runs.h"
#include "system/training_runs.h"

using namespace tutti;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

const std::string kNano = TUTTI_SOURCE_DIR "/models/nano";

/// A recording called by its name, by links of both kinds, and by another way to its folder.
class OwnInput : public testing::Test {
 protected:
  void SetUp() override {
    write_tone(folder_ / "t.wav", 1, 300);
    fs::create_symlink("t.wav", folder_ / "soft.json");
    fs::create_hard_link(folder_ / "t.wav", folder_ / "hard.json");
    fs::create_directory_symlink(".", folder_ / "here");
    before_ = read_file(folder_ / "t.wav").value();
  }

  std::vector<std::string> spellings() const {
    return {folder_ / "t.wav", folder_ / "soft.json", folder_ / "hard.json", folder_ / "here/t.wav",
            folder_ / "./t.wav"};
  }

  /// `words` and then `flag FILE`, for every spelling.
  void expect_refused(const std::vector<std::string>& words, const std::string& flag) {
    for (const auto& spelling : spellings()) {
      auto all = words;
      all.insert(all.begin(), tutti_program());
      all.insert(all.end(), {flag, spelling});
      const ProgramEnd end = run_program(all, settings());
      EXPECT_EQ(end.exit_code, 2) << words[0] << " " << spelling << ": " << end.err;
      EXPECT_THAT(end.err, HasSubstr("is an input itself and would be overwritten")) << words[0] << " " << spelling;
      EXPECT_EQ(read_file(folder_ / "t.wav").value(), before_) << words[0] << " " << spelling;
    }
  }

  std::vector<std::string> settings() const {
    return {"XDG_RUNTIME_DIR=" + folder_.path().string(), "XDG_CONFIG_HOME=" + folder_.path().string(),
            "XDG_STATE_HOME=" + folder_.path().string()};
  }

  TempFolder folder_;
  std::string before_{};
};

/// One recording and what is in the output folder.
class UserFilesInBatch : public BatchTest {
 protected:
  void SetUp() override {
    fs::create_directories(in_);
    write_tone(in_ / "talk.wav", 3, 300);
  }
  ProgramEnd run(std::vector<std::string> more = {}) const { return batch("emulated:200x", std::move(more)); }
  fs::path out(const std::string& name) const { return folder_ / "out" / name; }
  std::string text(const std::string& name) const { return read_file(out(name)).value_or("(missing)"); }
  void put(const std::string& name, const std::string& content) const {
    ASSERT_TRUE(write_file_atomically(out(name), content));
  }
};

}  // namespace

TEST_F(OwnInput, NoFileThatIsNamedReplacesIt) {
  const std::string t = folder_ / "t.wav";
  expect_refused({"manifest", t}, "-o");
  expect_refused({"manifest", folder_.path()}, "-o");
  expect_refused({"bench", t, "--model", kNano, "--devices", "cpu"}, "--picture");
  expect_refused({"batch", t, "--devices", "emulated:200x", "-o", folder_ / "out", "--yes"}, "--report");
  expect_refused({"evaluate", "--model", kNano, "--data", folder_.path()}, "--report");
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "before any work";
}

TEST_F(OwnInput, FileBehindRedirectedStandardInputStays) {
  const std::string list = folder_ / "list.txt";
  ASSERT_TRUE(write_file_atomically(list, "t.wav\n"));
  const auto redirected = [&](const std::string& words) {
    return run_program({"/bin/sh", "-c", tutti_program() + " " + words + " < " + list}, settings());
  };
  EXPECT_EQ(redirected("manifest - -o " + list).exit_code, 2);
  EXPECT_EQ(redirected("batch - --audio-root " + folder_.path().string() + " --devices emulated:200x --yes -o " +
                       (folder_ / "out").string() + " --state " + (folder_ / "state").string() + " --report " + list)
                .exit_code,
            2);
  EXPECT_EQ(read_file(list).value(), "t.wav\n");
}

TEST_F(OwnInput, AFileCalledLikeAPageOfAReviewStays) {
  const std::string transcript = folder_ / "a.json", page = folder_ / "review.csv";
  ASSERT_TRUE(write_file_atomically(transcript, R"({"segments":[{"start":0,"end":3,"text":" Good day."}]})"));
  const auto review = [&] {
    return run_program({tutti_program(), "review", transcript, "--out", folder_.path(), "--text-only"}, settings());
  };
  ASSERT_TRUE(write_file_atomically(page, "my notes"));
  const auto end = review();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(read_file(page).value(), "my notes");
  EXPECT_THAT(end.err, HasSubstr("is kept; the new text is in " + (folder_ / "review.new.csv").string()));
  std::filesystem::remove(page);
  std::filesystem::remove(folder_ / "review.new.csv");
  EXPECT_EQ(review().exit_code, 0);
  EXPECT_THAT(review().err, Not(HasSubstr("is kept"))) << "its own page";
  const std::string corrected = read_file(page).value() + "seen,,,,,\r\n";
  ASSERT_TRUE(write_file_atomically(page, corrected));
  EXPECT_EQ(review().exit_code, 0);
  EXPECT_EQ(read_file(page).value(), corrected);
  EXPECT_TRUE(fs::exists(folder_ / "review.new.csv"));
}

TEST_F(OwnInput, ListsModelsAndTheStoreAreInputsToo) {
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), tutti_program());
    return run_program(words, settings());
  };
  const std::string list = folder_ / "list.txt", store = folder_ / "state/tutti.sqlite";
  ASSERT_TRUE(write_file_atomically(list, "t.wav\n"));
  const auto names = read_file(list).value();
  EXPECT_EQ(run({"manifest", list, "-o", list}).exit_code, 2);
  EXPECT_EQ(run({"manifest", "--sqlite", list, "--query", "SELECT 1", "-o", list}).exit_code, 2);
  const std::vector<std::string> batch{"batch",         list,    "--audio-root", folder_.path(),   "--devices",
                                       "emulated:200x", "--yes", "--state",      folder_ / "state"};
  const auto batch_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), batch.begin(), batch.end());
    return run(more);
  };
  EXPECT_EQ(batch_with({"-o", folder_ / "out", "--report", list}).exit_code, 2);
  EXPECT_EQ(batch_with({"-o", folder_ / "out", "--report", store}).exit_code, 2);
  EXPECT_EQ(read_file(list).value(), names);
  // A recording called list.wav has its transcript where the list is.
  fs::copy_file(folder_ / "t.wav", folder_ / "list.wav");
  ASSERT_TRUE(write_file_atomically(list, "list.wav\n"));
  const auto onto_list = batch_with({"-o", folder_.path(), "--name-by", "stem", "-f", "txt"});
  EXPECT_EQ(onto_list.exit_code, 2) << onto_list.err;
  EXPECT_EQ(read_file(list).value(), "list.wav\n");
  // And one called config.wav where a model's configuration is.
  fs::copy(kNano, folder_ / "model");
  fs::copy_file(folder_ / "t.wav", folder_ / "config.wav");
  const auto config = read_file(folder_ / "model/config.json").value();
  EXPECT_EQ(
      run({"transcribe", folder_ / "config.wav", "--model", folder_ / "model", "-f", "json", "-o", folder_ / "model"})
          .exit_code,
      2);
  EXPECT_EQ(read_file(folder_ / "model/config.json").value(), config);
}

TEST_F(OwnInput, APageForReviewReplacesNoListAndNoTranscript) {
  const auto run = [&](std::vector<std::string> words) {
    words.insert(words.begin(), tutti_program());
    return run_program(words, settings());
  };
  ASSERT_TRUE(write_file_atomically(folder_ / "out/review.csv", "path\n" + (folder_ / "t.wav").string() + "\n"));
  const auto list = read_file(folder_ / "out/review.csv").value();
  const auto end =
      run({"batch", folder_ / "out/review.csv", "-o", folder_ / "out", "--devices", "emulated:200x", "--yes"});
  EXPECT_EQ(end.exit_code, 2) << end.err;
  EXPECT_EQ(read_file(folder_ / "out/review.csv").value(), list);
  fs::create_symlink("../t.json", folder_ / "out/review.html");
  ASSERT_TRUE(write_file_atomically(folder_ / "t.json", R"({"text": "a", "segments": []})"));
  EXPECT_EQ(run({"review", folder_ / "t.json", "--text-only", "--out", folder_ / "out"}).exit_code, 2);
  EXPECT_EQ(read_file(folder_ / "t.json").value(), R"({"text": "a", "segments": []})");
}

TEST_F(OwnInput, AReportAndATranscriptAreNotWrittenOntoEachOther) {
  const ProgramEnd end =
      run_program({tutti_program(), "batch", folder_ / "t.wav", "--devices", "emulated:200x", "--yes", "-o",
                   folder_ / "out", "-f", "json", "--report", folder_ / "out/t.wav.json"},
                  settings());
  EXPECT_EQ(end.exit_code, 2) << end.err;
  EXPECT_THAT(end.err, HasSubstr("would be written twice: by --report and as a transcript"));
}

TEST_F(OwnInput, ANamedOutputReplacesNoFileOfAnotherKind) {
  const std::string mine = folder_ / "mine", t = folder_ / "t.wav";
  ASSERT_TRUE(write_file_atomically(mine, "{\"mine\": 1}"));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"manifest", t, "-o", mine},
           {"history", "--svg", mine},
           {"bench", t, "--model", kNano, "--devices", "cpu", "--picture", mine},
           {"batch", t, "--devices", "emulated:200x", "-o", folder_ / "out", "--yes", "--report", mine},
           {"evaluate", "--model", kNano, "--data", folder_ / "set", "--report", mine}}) {
    auto all = words;
    all.insert(all.begin(), tutti_program());
    const ProgramEnd end = run_program(all, settings());
    EXPECT_EQ(end.exit_code, 2) << words[0] << ": " << end.err;
    EXPECT_THAT(end.err,
                HasSubstr(mine + " is there already and was not written by this command. Move it away, or name"))
        << words[0];
    EXPECT_EQ(read_file(mine).value(), "{\"mine\": 1}") << words[0];
  }
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "before any work";
  const std::vector<std::string> again{tutti_program(), "manifest", t, "-o", folder_ / "list.json"};
  EXPECT_EQ(run_program(again, settings()).exit_code, 0);
  EXPECT_EQ(run_program(again, settings()).exit_code, 0) << "its own";
}

TEST_F(OwnInput, ADevicesFileIsAnInputHoweverItIsNamed) {
  const std::string devices = folder_ / "devices.toml", text = "[[device]]\nuse = \"emulated:200x\"\n";
  ASSERT_TRUE(write_file_atomically(devices, text));
  for (const char* flag : {"--devices", "-d"}) {
    const ProgramEnd end = run_program({tutti_program(), "batch", folder_ / "t.wav", flag, devices, "-o",
                                        folder_ / "out", "--yes", "--report", devices},
                                       settings());
    EXPECT_EQ(end.exit_code, 2) << flag << ": " << end.err;
    EXPECT_THAT(end.err, HasSubstr("is an input itself")) << flag;
    EXPECT_EQ(read_file(devices).value(), text) << flag;
  }
}

TEST_F(OwnInput, ACorpusIsNotMadeWhereItsRecordingsAre) {
  fs::create_directory(folder_ / "corpus");
  fs::create_directory(folder_ / "corpus/audio");
  fs::copy_file(folder_ / "t.wav", folder_ / "corpus/audio/t.wav");
  const std::string corpus = folder_ / "corpus";
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"prepare", "whisper", corpus + "/audio/t.wav", "--model", kNano, "--out", corpus},
           {"prepare", "whisper", corpus + "/audio", "--model", kNano, "--out", corpus + "/audio"},
           {"prepare", "whisper", corpus + "/audio/", "--model", kNano, "--out", corpus + "/../corpus/audio"},
           {"synth", "morse", "--count", "2", "--out", corpus}}) {
    auto all = words;
    all.insert(all.begin(), tutti_program());
    const ProgramEnd end = run_program(all, settings());
    EXPECT_EQ(end.exit_code, 2) << words[0] << ": " << end.err;
    EXPECT_EQ(std::distance(fs::directory_iterator(corpus), {}), 1) << words[0];
    EXPECT_EQ(read_file(corpus + "/audio/t.wav").value(), before_);
  }
}

TEST_F(OwnInput, TrainingDoesNotOverwriteItsInputs) {
  fs::create_directories(folder_ / "w");
  fs::copy(kNano, folder_ / "w/model");
  const auto train = [&](const std::string& model, const std::string& data, const std::string& out) {
    return run_program({tutti_program(), "train", "whisper", "--model", model, "--data", data, "--out", out},
                       settings());
  };
  const auto weights = read_file(folder_ / "w/model/model.safetensors").value();
  const std::string w = folder_ / "w", set = folder_ / "set";
  fs::create_directories(set);
  for (const auto& [model, data, out] : std::vector<std::array<std::string, 3>>{{w + "/model", set, w},
                                                                                {w + "/model", set, w + "/../w/"},
                                                                                {w + "/model", set, w + "/model"},
                                                                                {kNano, set, set},
                                                                                {kNano, w + "/model", w},
                                                                                {kNano, set, w}}) {
    const ProgramEnd end = train(model, data, out);
    EXPECT_EQ(end.exit_code, 2) << model << " " << data << " " << out << ": " << end.err;
    EXPECT_EQ(read_file(folder_ / "w/model/model.safetensors").value(), weights);
    EXPECT_FALSE(fs::exists(folder_ / "w/config.toml"));
  }
}

TEST_F(OwnInput, ATrainingFillsNoFolderThatHoldsFilesOfItsNames) {
  const fs::path out = folder_ / "q";
  for (const char* name : {"config.toml", "metrics.jsonl", "order.jsonl", "bad_samples.jsonl", "loss.svg",
                           "events/mine", "model/mine", "checkpoints/step-1/mine"})
    for (const bool resumes : {false, true}) {
      ASSERT_TRUE(write_file_atomically(out / name, "mine"));
      std::vector<std::string> words{tutti_program(), "train",        "whisper", "--model", kNano,
                                     "--data",        folder_.path(), "--out",   out};
      if (resumes) words.emplace_back("--resume");
      const ProgramEnd end = run_program(words, settings());
      EXPECT_EQ(end.exit_code, 2) << name << ": " << end.err;
      EXPECT_EQ(read_file(out / name).value(), "mine") << name;
      EXPECT_FALSE(fs::exists(out / "training.lock")) << name;
      fs::remove_all(out);
    }
}

TEST(UserFilesInTraining, AResumedOneKeepsThemAndReplacesNoEditedModel) {
  TUTTI_NEEDS("speech/ljspeech/metadata.csv");
  const TempFolder out;
  const fs::path notes = out / "model/notes.txt", edited = out / "model/generation_config.json";
  const auto train = [&](std::vector<std::string> more) { return run_program(training(out.path(), more)); };
  ASSERT_EQ(train({"--max-steps", "2"}).exit_code, 0);
  ASSERT_TRUE(write_file_atomically(notes, "mine"));
  const auto weights = read_file(out / "model/model.safetensors").value();
  const auto resumed = train({"--resume", "--max-steps", "4"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(read_file(notes).value(), "mine");
  EXPECT_NE(read_file(out / "model/model.safetensors").value(), weights);
  ASSERT_TRUE(write_file_atomically(edited, "{}"));
  const auto refused = train({"--resume", "--max-steps", "6"});
  EXPECT_EQ(refused.exit_code, 2) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr(edited.string()));
  EXPECT_EQ(read_file(edited).value(), "{}");
}

TEST_F(UserFilesInBatch, AFileThatWasThereBeforeIsKeptAndListed) {
  put("talk.wav.json", "mine");
  const auto end = run();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(text("talk.wav.json"), "mine");
  EXPECT_THAT(text("talk.wav.new.json"), HasSubstr("segments"));
  EXPECT_THAT(end.err, HasSubstr("Kept files, which this store did not write or which were edited: 1."));
  EXPECT_THAT(end.err, HasSubstr(out("talk.wav.json").string() + " -> " + out("talk.wav.new.json").string()));
  EXPECT_EQ(report()["kept_files"], 1);
  EXPECT_EQ(report()["assets"][0]["kept_files"][0]["path"], out("talk.wav.json").string());
  EXPECT_EQ(report()["assets"][0]["kept_files"][0]["new_text"], out("talk.wav.new.json").string());
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0);
  EXPECT_EQ(run({"--overwrite"}).exit_code, 0);
  EXPECT_EQ(text("talk.wav.json"), text("talk.wav.new.json"));
  EXPECT_EQ(report()["kept_files"], 0);
}

TEST_F(UserFilesInBatch, ATranscriptThatWasCorrectedIsKept) {
  ASSERT_EQ(run().exit_code, 0);
  const std::string written = text("talk.wav.json");
  std::string corrected = written;
  corrected[corrected.find("segments")] = 'S';  // of equal length
  put("talk.wav.json", corrected);
  const auto end = run();
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(text("talk.wav.json"), corrected);
  EXPECT_EQ(text("talk.wav.new.json"), written);
  EXPECT_EQ(report()["kept_files"], 1);
  EXPECT_EQ(run().exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 0) << "once is enough";
  EXPECT_EQ(run({"--overwrite"}).exit_code, 0);
  EXPECT_EQ(text("talk.wav.json"), written);
}

TEST_F(UserFilesInBatch, OutputsOfOtherOptionsAreReplaced) {
  ASSERT_EQ(run().exit_code, 0);
  ASSERT_EQ(run({"-f", "all"}).exit_code, 0);
  EXPECT_EQ(report()["done_in_this_run"], 1);
  EXPECT_EQ(report()["kept_files"], 0);
  EXPECT_FALSE(fs::exists(out("talk.wav.new.json")));
}

TEST_F(UserFilesInBatch, ATranscriptOfAnotherStoreIsKept) {
  ASSERT_EQ(run().exit_code, 0);
  put("talk.wav.json", "of a store that is gone");
  ASSERT_EQ(run({"--state", folder_ / "other"}).exit_code, 0);
  EXPECT_EQ(text("talk.wav.json"), "of a store that is gone");
  EXPECT_EQ(report()["kept_files"], 1);
}

TEST_F(UserFilesInBatch, AListOfNulsFromStandardInputIsReadWhole) {
  write_tone(in_ / "b.wav", 2, 200);
  const std::string talk = in_ / "talk.wav", b = in_ / "b.wav", before = read_file(talk).value();
  auto all = words("emulated:200x");
  all.at(2) = "-";
  std::vector<std::string> piped{"/bin/sh", "-c", "printf '%s\\0%s\\0' '" + talk + "' '" + b + "' | \"$@\"", "sh"};
  piped.insert(piped.end(), all.begin(), all.end());
  const auto end = run_program(piped, settings());
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(report()["done_in_this_run"], 2);
  EXPECT_EQ(read_file(talk).value(), before);
}

TEST_F(UserFilesInBatch, AListOfPathsThatEndInNulIsRead) {
  ASSERT_TRUE(write_file_atomically(folder_ / "list.txt", std::string("a.wav\0b.wav\0", 12)));
  write_tone(folder_ / "a.wav", 2, 200);
  write_tone(folder_ / "b.wav", 3, 200);
  const auto before = read_file(folder_ / "a.wav").value();
  auto all = words("emulated:200x", {"--audio-root", folder_.path()});
  all.at(2) = folder_ / "list.txt";
  const auto end = run_program(all, settings());
  EXPECT_EQ(end.exit_code, 0) << end.err;
  EXPECT_EQ(report()["done_in_this_run"], 2);
  EXPECT_EQ(read_file(folder_ / "a.wav").value(), before);
}

TEST(Replaced, TranscribeAndConvertNameReplacedFiles) {
  const TempFolder folder;
  write_tone(folder / "t.wav", 1, 300);
  const auto transcribe = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {tutti_program(), "transcribe", folder / "t.wav", "--model", kNano, "--device", "cpu",
                               "-f", "txt", "-o", folder.path()});
    return run_program(more);
  };
  EXPECT_THAT(transcribe({}).err, Not(HasSubstr("Replaced")));
  ASSERT_TRUE(write_file_atomically(folder / "t.txt", "corrected"));
  const auto again = transcribe({"--json"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("\"replaced\":[\"" + (folder / "t.txt").string() + "\"]"));
  EXPECT_THAT(again.out, HasSubstr("\"replaced\":1"));
  const std::string one = "Replaced: 1 output file that was there before: ";
  EXPECT_THAT(transcribe({}).err, HasSubstr(one + (folder / "t.txt").string()));
  const auto quiet = transcribe({"-q"});
  EXPECT_EQ(quiet.out + quiet.err, one + (folder / "t.txt").string() + "\n");
  ASSERT_TRUE(write_file_atomically(folder / "x.json", R"({"text": "a", "segments": []})"));
  const auto convert = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {tutti_program(), "convert", folder / "x.json", "-f", "srt", "-o", folder.path()});
    return run_program(more);
  };
  EXPECT_THAT(convert({}).err, Not(HasSubstr("Replaced")));
  EXPECT_THAT(convert({}).err, HasSubstr(one + (folder / "x.srt").string()));
  const auto quietly = convert({"-q"});
  EXPECT_EQ(quietly.out + quietly.err, one + (folder / "x.srt").string() + "\n");
}

TEST(Replaced, ALinkIsReplacedAndNotTheFileItLeadsTo) {
  const TempFolder folder;
  write_tone(folder / "t.wav", 1, 300);
  ASSERT_TRUE(write_file_atomically(folder / "x.json", R"({"text": "a", "segments": []})"));
  for (const char* name : {"t.txt", "x.txt"}) {
    ASSERT_TRUE(write_file_atomically(folder / "outside" / name, "mine"));
    fs::create_directories(folder / "out");
    fs::create_symlink(folder / "outside" / name, folder / "out" / name);
  }
  const auto transcribed = run_program({tutti_program(), "transcribe", folder / "t.wav", "--model", kNano, "--device",
                                        "cpu", "-f", "txt", "-o", folder / "out"});
  EXPECT_EQ(transcribed.exit_code, 0) << transcribed.err;
  EXPECT_THAT(transcribed.err, HasSubstr("Replaced: 1"));
  const auto converted =
      run_program({tutti_program(), "convert", folder / "x.json", "-f", "txt", "-o", folder / "out"});
  EXPECT_EQ(converted.exit_code, 0) << converted.err;
  EXPECT_THAT(converted.err, HasSubstr("Replaced: 1"));
  for (const char* name : {"t.txt", "x.txt"}) {
    EXPECT_EQ(read_file(folder / "outside" / name).value(), "mine") << name;
    EXPECT_FALSE(fs::is_symlink(folder / "out" / name)) << name;
  }
}
