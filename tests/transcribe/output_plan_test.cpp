#include "transcribe/output_plan.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(OutputPlan, OutputsAreNamedAfterTheStem) {
  const auto plan = plan_outputs({"talks/monday.mp3", "-"}, {.folder = "out", .formats = {Format::txt, Format::srt}});
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)[0].outputs, (std::vector<std::filesystem::path>{"out/monday.txt", "out/monday.srt"}));
  EXPECT_EQ((*plan)[1].outputs[0], "out/stdin.txt");
}

TEST(OutputPlan, FoldersThatWereNamedByMistakeDoNotCollide) {
  const auto plan = plan_outputs({"talks/", "more/talks2/"}, {.folder = "out", .formats = {Format::txt}});
  ASSERT_TRUE(plan) << plan.error().text();  // the error for a folder comes when it is opened
  EXPECT_EQ((*plan)[0].outputs[0], "out/talks.txt");
  EXPECT_EQ((*plan)[1].outputs[0], "out/talks2.txt");
}

TEST(OutputPlan, TwoInputsOfOneStemAreRefusedNamingBoth) {
  const auto plan = plan_outputs({"a/talk.mp3", "b/talk.wav"}, {.folder = "out"});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("a/talk.mp3"), std::string::npos);
  EXPECT_NE(plan.error().what.find("b/talk.wav"), std::string::npos);
  EXPECT_NE(plan.error().hint.find("name_by path"), std::string::npos);
}

TEST(OutputPlan, OneFileNamedTwiceIsNotToBeNamedByPath) {
  for (const char* again : {"a/talk.mp3", "./a/talk.mp3", "a/../a/talk.mp3"}) {
    const auto plan = plan_outputs({"a/talk.mp3", again}, {.folder = "out"});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().hint, "Name each input once") << again;
  }
}

TEST(OutputPlan, AnInputThatIsNotThereYetIsNeverAnOutput) {
  const TempFolder folder;
  std::filesystem::create_directory_symlink(".", folder / "here");
  const std::string late = folder / "talk.txt";
  EXPECT_FALSE(plan_outputs({late}, {.folder = folder / "here", .formats = {Format::txt}}));
}

TEST(OutputPlan, TwoOutputsThatAreOneFileAreRefused) {
  const TempFolder folder;
  std::filesystem::create_symlink("b.txt", folder / "a.txt");
  const auto plan = plan_outputs({"a.mp3", "b.mp3"}, {.folder = folder.path(), .formats = {Format::txt}});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("would be written twice: by a.mp3 and by b.mp3"), std::string::npos)
      << plan.error().what;
}

TEST(OutputPlan, ReplacedOutputIsReported) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", "was there"));
  const auto plan =
      plan_outputs({"talk.mp3"}, {.folder = folder.path(), .formats = {Format::txt, Format::srt}}).value();
  const OutputOwnership files = ownership_of(plan);
  EXPECT_TRUE(files.write(plan[0].outputs[0], "new").value());
  EXPECT_FALSE(files.write(plan[0].outputs[1], "new").value());
}

TEST(OutputPlan, AnInputIsNeverAnOutput) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", "a recording of that name"));
  const std::string other = folder / "other.mp3", named = folder / "talk.txt";
  EXPECT_TRUE(plan_outputs({other, named}, {.folder = folder.path(), .formats = {Format::srt}}));
  const auto plan = plan_outputs({other, named}, {.folder = folder.path(), .formats = {Format::srt, Format::txt}});
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("talk.txt is an input itself"), std::string::npos);
}

TEST(OutputPlan, AFolderWhereAnOutputBelongsIsKnownBeforeTheWork) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "talk.txt");
  EXPECT_TRUE(plan_outputs({"talk.mp3"}, {.folder = folder.path(), .formats = {Format::srt}}));
  const auto plan = plan_outputs({"talk.mp3"}, {.folder = folder.path(), .formats = {Format::srt, Format::txt}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().fault, Fault::usage);
  EXPECT_NE(plan.error().what.find("talk.txt: expected to write an output there, found a folder"), std::string::npos);
}

TEST(OutputPlan, ANameThatGetsTooLongForAFileIsKnownBeforeTheWork) {
  const std::string longest(251, 'a');
  EXPECT_TRUE(plan_outputs({longest + ".mp3"}, {.folder = "out", .formats = {Format::txt}}));
  const auto plan = plan_outputs({longest + ".mp3"}, {.folder = "out", .formats = {Format::txt, Format::json}});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().fault, Fault::usage);
  EXPECT_NE(plan.error().what.find("expected a name of at most 255 bytes, found 256"), std::string::npos);
}

TEST(OutputPlan, APathThatGetsTooLongForAFileIsKnownBeforeTheWork) {
  std::string folder;
  while (folder.size() < 4090) folder += "/" + std::string(99, 'a');
  folder.resize(4088);
  EXPECT_TRUE(expect_name(folder + "/t.json"));
  const auto named = expect_name(folder + "/it.json");
  ASSERT_FALSE(named);
  EXPECT_EQ(named.error().fault, Fault::usage);
  EXPECT_NE(named.error().what.find("expected a path of at most 4095 bytes, found 4096"), std::string::npos);
}

TEST(OutputPlan, AnAddressIsRefusedBeforeTheWork) {
  const auto plan = plan_outputs({"talk.mp3", "https://example.org/talk.mp3"}, {.folder = "out"});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().fault, Fault::usage);
  EXPECT_NE(plan.error().text().find("'https://example.org/talk.mp3'"), std::string::npos);
  EXPECT_NE(plan.error().text().find("must be local files"), std::string::npos);
}

TEST(OutputPlan, AFolderThatCannotBeWrittenToIsKnownBeforeTheWork) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "file", ""));
  const auto made = [&](const std::filesystem::path& out) {
    return make_folders_of(plan_outputs({"talk.mp3"}, {.folder = out, .formats = {Format::txt}}).value());
  };
  EXPECT_TRUE(made(folder / "new/deeper"));
  EXPECT_TRUE(std::filesystem::is_directory(folder / "new/deeper"));
  EXPECT_FALSE(made(folder / "file"));
  EXPECT_FALSE(made(folder / "file/below"));
  EXPECT_FALSE(made("/proc/nope"));
}

TEST(OutputPlan, AFolderThatCannotBeMadeIsKnownWithoutMakingAny) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "file", ""));
  std::filesystem::create_symlink("nowhere", folder / "link");
  const auto expected = [&](const std::filesystem::path& out) {
    return expect_folders_of(plan_outputs({"talk.mp3"}, {.folder = out, .formats = {Format::txt}}).value());
  };
  EXPECT_TRUE(expected(folder / "new/deeper"));
  EXPECT_TRUE(expected("new-below-where-we-are"));
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  for (const char* wrong : {"file", "file/below", "link", "link/below"}) {
    const auto refused = expected(folder / wrong);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_NE(refused.error().what.find(std::string(wrong) + ": outputs cannot be written there"), std::string::npos)
        << refused.error().what;
  }
}

TEST(OutputPlan, NamedByPathTheyKeepTheirFoldersBelowTheCommonOne) {
  const auto plan = plan_outputs({"/x/a/talk.mp3", "/x/b/talk.wav", "/x/b/talk.mp3"},
                                 {.folder = "out", .formats = {Format::txt}, .name_by = NameBy::path});
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)[0].outputs[0], "out/a/talk.mp3.txt");
  EXPECT_EQ((*plan)[1].outputs[0], "out/b/talk.wav.txt");
  EXPECT_EQ((*plan)[2].outputs[0], "out/b/talk.mp3.txt");
}

TEST(OutputPlan, StandardInputHasNoFolder) {
  const auto plan = plan_outputs({"/x/a/talk.mp3", "-", "/x/b/talk.mp3"},
                                 {.folder = "out", .formats = {Format::txt}, .name_by = NameBy::path});
  ASSERT_TRUE(plan);
  EXPECT_EQ((*plan)[0].outputs[0], "out/a/talk.mp3.txt");
  EXPECT_EQ((*plan)[1].outputs[0], "out/stdin.txt");
}

TEST(OutputPlan, AnInputWithoutANameIsRefused) {
  for (const NameBy name_by : {NameBy::stem, NameBy::path}) {
    const auto plan = plan_outputs({"talk.mp3", ""}, {.folder = "out", .name_by = name_by});
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().fault, Fault::usage);
  }
}

TEST(OutputPlan, AFileWhoseOutputsAreAllThereIsDone) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomically(folder / "talk.mp3", "audio"));
  const OutputOptions options{.folder = folder.path(), .formats = {Format::txt, Format::srt}, .skip_existing = true};
  const std::vector<std::string> inputs{(folder / "talk.mp3").string()};
  ASSERT_TRUE(write_file_atomically(folder / "talk.txt", "text"));
  EXPECT_FALSE(plan_outputs(inputs, options).value()[0].already_done) << "one output is missing";
  ASSERT_TRUE(write_file_atomically(folder / "talk.srt", "text"));
  EXPECT_TRUE(plan_outputs(inputs, options).value()[0].already_done);
}
