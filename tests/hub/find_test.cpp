#include "hub/find.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/files.h"
#include "hub/hub_server.h"
#include "support/environment.h"
#include "support/real_model.h"
#include "support/run_program.h"
#include "support/temp_folder.h"

using namespace tutti;

namespace {

/// The three caches, empty, in one temporary folder.
struct Caches {
  TempFolder root{};
  ModelFolders folders{root / "own", root / "hf", root / "whisper", root / "fetched"};

  void put_in_hub_cache(const std::string& repo, const std::string& commit, bool main) {
    write_model(folders.hugging_face / repo / "snapshots" / commit);
    if (!main) return;
    EXPECT_TRUE(write_file_atomically(folders.hugging_face / repo / "refs/main", commit + "\n").has_value());
  }
  void put_faster_whisper(const std::string& repo) { put_ctranslate2(folders.hugging_face / repo / "snapshots/abc"); }
  /// What tools/fetch_model.py makes.
  std::filesystem::path put_fetched() {
    put_ctranslate2(folders.fetched / "openai--whisper-tiny.en");
    return folders.fetched / "openai--whisper-tiny.en";
  }
  static void put_ctranslate2(const std::filesystem::path& folder) {
    ASSERT_TRUE(write_file_atomically(folder / "model.bin", std::string("\6\0\0\0\x0C\0WhisperSpec\0", 18)));
    ASSERT_TRUE(write_file_atomically(folder / "tokenizer.json", "{}"));
  }
  void put_checkpoint(const std::string& name) {
    ASSERT_TRUE(write_file_atomically(folders.whisper / name, "PK\5\6" + std::string(18, '\0')));
  }
};

}  // namespace

TEST(FindModel, APathIsTakenAsItIs) {
  const TempFolder folder;
  write_model(folder / "mine");
  EXPECT_EQ(find_model((folder / "mine").string(), {}).value(), folder / "mine");
}

TEST(FindModel, OurOwnCopyComesBeforeTheOtherCaches) {
  Caches caches;
  caches.put_checkpoint("tiny.en.pt");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.folders.whisper / "tiny.en.pt");
  caches.put_in_hub_cache("models--openai--whisper-tiny.en", "abc", true);
  EXPECT_EQ(find_model("openai/whisper-tiny.en", caches.folders).value(),
            caches.folders.hugging_face / "models--openai--whisper-tiny.en/snapshots/abc");
  write_model(caches.folders.own / "openai--whisper-tiny.en");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.folders.own / "openai--whisper-tiny.en");
}

TEST(FindModel, FirstFolderPrecedesTheCachesWithoutReplacingThem) {
  Caches caches;
  caches.folders.first = caches.root / "mine";
  write_model(caches.folders.own / "openai--whisper-tiny.en");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.folders.own / "openai--whisper-tiny.en");
  ASSERT_TRUE(write_file_atomically(caches.root / "mine/tiny.en.pt", "PK\5\6" + std::string(18, '\0')));
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.root / "mine/tiny.en.pt");
  write_model(caches.root / "mine/openai--whisper-tiny.en");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.root / "mine/openai--whisper-tiny.en");
}

TEST(FindModel, TheSnapshotThatMainNamesIsTaken) {
  Caches caches;
  caches.put_in_hub_cache("models--openai--whisper-base", "new", true);
  caches.put_in_hub_cache("models--openai--whisper-base", "later-but-not-main", false);
  EXPECT_EQ(find_model("base", caches.folders).value().filename(), "new");
}

TEST(FindModel, ASnapshotWithoutAReferenceIsFoundToo) {
  Caches caches;
  caches.put_in_hub_cache("models--openai--whisper-base", "only", false);
  EXPECT_EQ(find_model("base", caches.folders).value().filename(), "only");
}

TEST(FindModel, PipeInsteadOfACacheFileDoesNotBlock) {
  Caches caches;
  const auto make_pipe = [](const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  };
  const auto cached = caches.folders.hugging_face / "models--openai--whisper-base";
  caches.put_in_hub_cache("models--openai--whisper-base", "only", false);
  make_pipe(cached / "refs/main");
  make_pipe(caches.folders.own / "no-config/config.json");
  make_pipe(caches.folders.own / "no-weights/model.bin");
  make_pipe(caches.folders.whisper / "tiny.pt");
  EXPECT_EQ(find_model("base", caches.folders).value().filename(), "only");
  EXPECT_FALSE(find_model("tiny", caches.folders));
  const auto listed = list_models(caches.folders);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "openai/whisper-base");
}

TEST(FindModel, TurboIsFoundUnderOpenaisFileName) {
  Caches caches;
  caches.put_checkpoint("large-v3-turbo.pt");
  EXPECT_EQ(find_model("turbo", caches.folders).value(), caches.folders.whisper / "large-v3-turbo.pt");
}

TEST(FindModel, FasterWhispersCopyIsTakenWhereThereIsNoOther) {
  Caches caches;
  caches.put_faster_whisper("models--Systran--faster-whisper-tiny.en");
  const auto copy = caches.folders.hugging_face / "models--Systran--faster-whisper-tiny.en/snapshots/abc";
  EXPECT_EQ(find_model("Systran/faster-whisper-tiny.en", caches.folders).value(), copy);
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), copy);
  caches.put_checkpoint("tiny.en.pt");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.folders.whisper / "tiny.en.pt");
}

TEST(FindModel, SetUpsCopyIsTakenOnlyWhereNoCacheHasTheModel) {
  Caches caches;
  const auto fetched = caches.put_fetched();
  for (const auto* name : {"tiny.en", "whisper-tiny.en", "openai/whisper-tiny.en"})
    EXPECT_EQ(find_model(name, caches.folders).value(), fetched) << name;
  EXPECT_FALSE(find_model("tiny", caches.folders));  // the multilingual one is another model
  caches.put_faster_whisper("models--Systran--faster-whisper-tiny.en");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value().filename(), "abc");
  write_model(caches.folders.own / "openai--whisper-tiny.en");
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), caches.folders.own / "openai--whisper-tiny.en");
}

TEST(FindModel, AnIncompletePullDoesNotHideSetUpsCopy) {
  Caches caches;
  write_model(caches.folders.own / "openai--whisper-tiny.en");
  std::filesystem::remove(caches.folders.own / "openai--whisper-tiny.en/tokenizer.json");
  const auto fetched = caches.put_fetched();
  EXPECT_EQ(find_model("tiny.en", caches.folders).value(), fetched);
}

TEST(FindModel, FetchScriptAndProgramNameTheSameFolder) {
  const TempFolder folder;
  const std::string in = folder.path().string();
  for (const char* name : {"TUTTI_CACHE", "XDG_CACHE_HOME", "HOME"}) {
    const ScopedVariable cache("TUTTI_CACHE", nullptr), xdg("XDG_CACHE_HOME", nullptr), home("HOME", "/nowhere");
    const ScopedVariable named(name, (in + "/" + name).c_str());
    const auto printed = run_program({TUTTI_SOURCE_DIR "/tools/fetch_model.py", "--print"});
    const auto expected = ModelFolders::from_environment().fetched / "openai--whisper-tiny.en";
    EXPECT_EQ(printed.out, expected.string() + "\n") << printed.err;
    EXPECT_TRUE(expected.string().starts_with(in + "/" + name)) << expected;
  }
}

TEST(FindModel, TheFetchedModelIsCompleteAndListed) {
  TUTTI_NEEDS_REAL_MODEL();
  const ModelFolders folders{.fetched = real_model().parent_path()};
  EXPECT_EQ(find_model("tiny.en", folders).value(), real_model());
  const auto listed = list_models(folders);
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "openai/whisper-tiny.en");
  EXPECT_EQ(listed[0].where, "set-up");
  EXPECT_EQ(listed[0].files.kind, ModelKind::ctranslate2);
  EXPECT_TRUE(listed[0].files.complete());
}

TEST(FindModel, AbsentModelErrorNamesSearchedPathsAndPullCommand) {
  const Caches caches;
  const auto found = find_model("small.en", caches.folders);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().fault, Fault::missing);
  for (const auto* part : {"own/openai--whisper-small.en", "hf/models--openai--whisper-small.en", "small.en.pt",
                           "fetched/openai--whisper-small.en"})
    EXPECT_NE(found.error().what.find(part), std::string::npos) << found.error().what;
  EXPECT_NE(found.error().hint.find("tutti pull small.en"), std::string::npos);
}

TEST(FindModel, IncompleteCopyErrorNamesTheMissingFile) {
  Caches caches;
  write_model(caches.folders.own / "openai--whisper-tiny");
  std::filesystem::remove(caches.folders.own / "openai--whisper-tiny/tokenizer.json");
  const auto found = find_model("tiny", caches.folders);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().fault, Fault::corrupt);
  EXPECT_NE(found.error().what.find("tokenizer.json is not there"), std::string::npos) << found.error().what;
}

TEST(FindModel, AnIncompleteCopyDoesNotHideAWholeOne) {
  Caches caches;
  write_model(caches.folders.own / "openai--whisper-tiny");
  std::filesystem::remove(caches.folders.own / "openai--whisper-tiny/tokenizer.json");
  caches.put_checkpoint("tiny.pt");
  EXPECT_EQ(find_model("tiny", caches.folders).value(), caches.folders.whisper / "tiny.pt");
}

TEST(FindModel, AFolderThatIsNoModelIsRefusedByName) {
  const TempFolder folder;
  const auto found = find_model(folder.path().string(), {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find(folder.path().string()), std::string::npos);
  EXPECT_NE(found.error().hint.find("config.json"), std::string::npos);
}

TEST(FindModel, UnreadableConfigIsReported) {
  Caches caches;
  write_model(caches.root / "mine");
  std::filesystem::remove(caches.root / "mine/config.json");
  std::filesystem::create_directory(caches.root / "mine/config.json");
  const auto found = find_model((caches.root / "mine").string(), caches.folders);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("config.json: expected a regular file"), std::string::npos) << found.error().text();
}

TEST(ListModels, EveryCacheIsListedAndUnfinishedOnesSayWhy) {
  Caches caches;
  write_model(caches.folders.own / "openai--whisper-tiny");
  write_model(caches.folders.own / "openai--whisper-base.0123456789ab.pulling");
  caches.put_in_hub_cache("models--distil-whisper--distil-small.en", "abc", true);
  std::filesystem::remove(caches.folders.hugging_face /
                          "models--distil-whisper--distil-small.en/snapshots/abc/model.safetensors");
  ASSERT_TRUE(write_file_atomically(caches.folders.hugging_face / "models--bert--x/snapshots/1/config.json",
                                    R"({"model_type": "bert"})"));
  caches.put_checkpoint("small.pt");
  caches.put_faster_whisper("models--Systran--faster-whisper-medium");
  const auto cpp = caches.folders.hugging_face / "models--ggerganov--whisper.cpp/snapshots/1/ggml-tiny.bin";
  ASSERT_TRUE(write_file_atomically(cpp, "lmgg"));
  const auto models = list_models(caches.folders);
  ASSERT_EQ(models.size(), 5U);
  EXPECT_EQ(models[0].name, cpp.string());
  EXPECT_EQ(models[0].files.kind, ModelKind::ggml);
  EXPECT_EQ(models[1].name, "Systran/faster-whisper-medium");
  EXPECT_EQ(models[1].files.kind, ModelKind::ctranslate2);
  EXPECT_EQ(models[2].name, "distil-whisper/distil-small.en");
  EXPECT_EQ(models[2].where, "Hugging Face");
  EXPECT_FALSE(models[2].files.complete());
  EXPECT_EQ(models[3].name, "openai/whisper-tiny");
  EXPECT_EQ(models[3].where, "tutti");
  EXPECT_TRUE(models[3].files.complete());
  EXPECT_EQ(models[4].name, "small");
  EXPECT_EQ(models[4].where, "openai-whisper");
}

TEST(ListModels, FetchedModelIsListedOnceWithoutMarkerFiles) {
  Caches caches;
  caches.put_fetched();
  Caches::put_ctranslate2(caches.folders.fetched / "openai--whisper-tiny.en.fetching/model");
  ASSERT_TRUE(write_file_atomically(caches.folders.fetched / "openai--whisper-tiny.en.unavailable", "no network\n"));
  ASSERT_TRUE(write_file_atomically(caches.folders.fetched / "openai--whisper-tiny.en.lock", ""));
  const auto models = list_models(caches.folders);
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].name, "openai/whisper-tiny.en");
  EXPECT_EQ(models[0].where, "set-up");
  EXPECT_TRUE(models[0].files.complete());
}

TEST(ListModels, CachesThatAreNotThereHoldNothing) {
  EXPECT_TRUE(list_models({"/nowhere/a", "/nowhere/b", "/nowhere/c", "/nowhere/d"}).empty());
}

TEST(FindModel, MissingPathInExistingFolderIsNotAHubName) {
  Caches caches;
  write_model(caches.root / "models/nano");
  const std::string wrong = (caches.root / "models/nono").string();
  const auto missing = find_model(wrong, caches.folders);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().fault, Fault::missing);
  EXPECT_EQ(missing.error().what,
            "model '" + wrong + "': no such file or folder, and no model of this name is on this machine");
  EXPECT_EQ(missing.error().hint, "Models there: " + (caches.root / "models/nano").string());
}

TEST(FindModel, AMissingFileOfAModelIsNoNameOfAHub) {
  Caches caches;
  for (const char* wrong : {"gone/ggml-tiny.bin", "gone/tiny.pt", "gone/tiny/"}) {
    const auto missing = find_model(wrong, caches.folders);
    ASSERT_FALSE(missing) << wrong;
    EXPECT_NE(missing.error().text().find("no such file or folder"), std::string::npos) << missing.error().text();
  }
  EXPECT_NE(find_model("someone/whisper-x", caches.folders).error().text().find("tutti pull someone/whisper-x"),
            std::string::npos)
      << "nothing in it marks a path";
}

TEST(FindModel, AModelInACacheIsFoundBesideAFolderOfItsOrganisation) {
  Caches caches;
  write_model(caches.folders.own / "openai--whisper-tiny.en");
  EXPECT_EQ(find_model("openai/whisper-tiny.en", caches.folders).value(),
            caches.folders.own / "openai--whisper-tiny.en");
}
