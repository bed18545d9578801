#include "cli/batch/batch_inputs.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <filesystem>

#include "base/field_names.h"
#include "base/files.h"
#include "support/log_capture.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class BatchInputs : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* year : {"2020", "2021"}) {
      fs::create_directories(folder_ / year);
      ASSERT_TRUE(write_file_atomically(folder_ / year / "talk.mp3", "x"));
    }
  }

  BatchCommand command(std::vector<std::string> inputs) const {
    BatchCommand command;
    command.inputs = std::move(inputs);
    command.output_dir = folder_ / "out";
    command.output_format = "srt";
    return command;
  }
  /// Below the output folder.
  std::vector<std::string> outputs_of(const BatchCommand& command) const {
    std::vector<std::string> all;
    const auto jobs = batch_jobs(command, "");
    EXPECT_TRUE(jobs) << jobs.error().text();
    for (const auto& job : jobs.value_or(ListedJobs{}).jobs)
      all.push_back(job.outputs().at(0).lexically_relative(folder_ / "out").string());
    return all;
  }

  const FieldNamesScope flags_{FieldNames::flags};  // as the command's messages have them
  LogCapture log_;
  TempFolder folder_;
};

TEST_F(BatchInputs, TrackAndChannelAreInTheFingerprintOnlyWhenSet) {
  BatchCommand plain = command({}), track = plain, channel = plain;
  track.speech.audio.track = 1;
  channel.speech.audio.channel = "mix";
  // What stores hold that were made before there were these flags.
  EXPECT_EQ(*fingerprint_of(plain, "", false, false),
            "7d67acde361cf08070c488f5140535788eae09374f6a2b67bb8fe7593f124a63");
  EXPECT_NE(*fingerprint_of(track, "", false, false), *fingerprint_of(plain, "", false, false));
  EXPECT_NE(*fingerprint_of(channel, "", false, false), *fingerprint_of(plain, "", false, false));
  EXPECT_NE(*fingerprint_of(channel, "", false, false), *fingerprint_of(track, "", false, false));
}

TEST_F(BatchInputs, OnASharedStoreAModelCountsByItsFilesNotByItsPath) {
  BatchCommand plain = command({});
  const auto model = [&](const std::string& machine, const std::string& weights) {
    fs::create_directories(folder_ / machine / "model");
    EXPECT_TRUE(write_file_atomically(folder_ / machine / "model/config.json", "{}"));
    EXPECT_TRUE(write_file_atomically(folder_ / machine / "model/model.safetensors", weights));
    return folder_ / machine / "model";
  };
  const std::string weights(300'000, 'w');
  const fs::path here = model("here", weights), there = model("there", weights);
  EXPECT_EQ(*fingerprint_of(plain, here, false, true), *fingerprint_of(plain, there, false, true));
  EXPECT_NE(*fingerprint_of(plain, here, false, false), *fingerprint_of(plain, there, false, false));
  const fs::path tuned = model("tuned", std::string(299'999, 'w') + "x");
  EXPECT_NE(*fingerprint_of(plain, here, false, true), *fingerprint_of(plain, tuned, false, true));
}

TEST_F(BatchInputs, SkipBeyondTheLastRecordingIsNamed) {
  BatchCommand skipping = command({(folder_ / "2020").string()});
  skipping.skip = 9;
  const auto none = batch_jobs(skipping, "");
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().text(), HasSubstr("among the inputs behind the first 9, which --skip leaves out: "));
}

TEST_F(BatchInputs, ClipsOfATableAreFoundInTheFolderBesideIt) {
  fs::create_directories(folder_ / "cv/clips");
  ASSERT_TRUE(write_file_atomically(folder_ / "cv/clips/a.mp3", "x"));
  ASSERT_TRUE(write_file_atomically(folder_ / "cv/train.tsv", "client_id\tpath\tsentence\nx\ta.mp3\tA\nx\ta\tA\n"));
  const auto jobs = batch_jobs(command({folder_ / "cv/train.tsv"}), "");
  ASSERT_TRUE(jobs) << jobs.error().text();
  ASSERT_EQ(jobs->jobs.size(), 1U);
  EXPECT_EQ(jobs->jobs.at(0).spec.input, folder_ / "cv/clips/a.mp3");
}

TEST_F(BatchInputs, EqualNamesInAbsolutePathListGetSeparateOutputs) {
  const std::string list = folder_ / "list.txt";
  const std::string lines = (folder_ / "2020/talk.mp3").string() + "\n" + (folder_ / "2021/talk.mp3").string() + "\n";
  ASSERT_TRUE(write_file_atomically(list, lines));
  BatchCommand by_list = command({list});
  by_list.audio_root = folder_.path();
  EXPECT_THAT(outputs_of(by_list), ElementsAre("2020/talk.mp3.srt", "2021/talk.mp3.srt"));
  EXPECT_EQ(log_.count("--audio-root"), 0);
  by_list.audio_root = folder_ / "elsewhere";
  const std::string whole = folder_.path().relative_path().string();
  EXPECT_THAT(outputs_of(by_list), ElementsAre(whole + "/2020/talk.mp3.srt", whole + "/2021/talk.mp3.srt"));
  EXPECT_EQ(log_.count("keep the whole path below --output-dir: 2; --audio-root DIR"), 1) << "how they get shorter";
}

TEST_F(BatchInputs, FilesInRootFolderGetNoSubfolderAndNoWarning) {
  BatchCommand by_list = command({folder_ / "list.txt", "/named.mp3"});
  ASSERT_TRUE(write_file_atomically(folder_ / "list.txt", "talks/relative.mp3\n/absolute.mp3\n"));
  by_list.audio_root = "/";  // as where that is the current folder, in a container
  EXPECT_THAT(outputs_of(by_list), ElementsAre("talks/relative.mp3.srt", "absolute.mp3.srt", "named.mp3.srt"));
  EXPECT_EQ(log_.count("--audio-root"), 0);
}

TEST_F(BatchInputs, APatternOverFoldersKeepsThemApart) {
  EXPECT_THAT(outputs_of(command({folder_ / "*/talk.mp3"})), ElementsAre("2020/talk.mp3.srt", "2021/talk.mp3.srt"));
}

TEST_F(BatchInputs, TwoArgumentsThatWouldBecomeOneOutputAreRefusedWithAWayOut) {
  for (const std::vector<std::string>& inputs :
       {std::vector<std::string>{folder_ / "2020", folder_ / "2021"},
        std::vector<std::string>{folder_ / "2020/talk.mp3", folder_ / "2021/talk.mp3"}}) {
    const auto refused = batch_jobs(command(inputs), "");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_THAT(refused.error().text(), HasSubstr("would both be written to"));
    EXPECT_THAT(refused.error().text(), HasSubstr("Name a folder above both"));
  }
}

TEST_F(BatchInputs, FilesLeftOutOfFoldersAreLogged) {
  ASSERT_TRUE(write_file_atomically(folder_ / "2020/notes.txt", "x"));
  EXPECT_THAT(outputs_of(command({folder_ / "2020"})), ElementsAre("talk.mp3.srt"));
  EXPECT_EQ(log_.count("Files in folders: 1 of 2 taken; 1 not audio by name (1 .txt). --all-files tries those as well"),
            1);
  BatchCommand all = command({folder_ / "2020"});
  all.all_files = true;
  EXPECT_THAT(outputs_of(all), ElementsAre("notes.txt.srt", "talk.mp3.srt"));
  fs::remove(folder_ / "2020/talk.mp3");
  EXPECT_THAT(batch_jobs(command({folder_ / "2020"}), "").error().text(),
              HasSubstr("(0 of 1 taken; 1 not audio by name (1 .txt))"));
}

TEST_F(BatchInputs, OneLanguageInTwoSpellingsIsOneFingerprint) {
  const auto fingerprint = [&](std::optional<std::string> language) {
    BatchCommand requested = command({});
    requested.speech.language = std::move(language);
    return *fingerprint_of(requested, {}, false, false);
  };
  EXPECT_EQ(fingerprint("auto"), fingerprint({}));
  EXPECT_EQ(fingerprint("en-US"), fingerprint("en"));
  EXPECT_NE(fingerprint("en"), fingerprint({}));
}

/// What the heap holds now. 0 beside a sanitizer, whose heap is another.
std::size_t bytes_held() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST_F(BatchInputs, ALongListTakesAKilobyteAndAHalfForARecordingAtMost) {
  constexpr std::size_t kLines = 10'000;
  std::string lines;
  for (std::size_t i = 0; i < kLines; ++i)
    lines += "/archive/lectures/2019/may/recording-" + std::to_string(i) + ".mp3\n";
  ASSERT_TRUE(write_file_atomically(folder_ / "list.txt", lines));
  BatchCommand all = command({folder_ / "list.txt"});
  all.output_format = "all";
  const std::size_t before = bytes_held();
  const auto jobs = batch_jobs(all, std::string(64, 'f'));
  ASSERT_TRUE(jobs);
  EXPECT_EQ(jobs->jobs.size(), kLines);
  EXPECT_EQ(jobs->jobs.front().outputs().size(), 5U);
  EXPECT_LT(bytes_held(), before + kLines * 1500);
}

}  // namespace
}  // namespace tutti
