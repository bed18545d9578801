#include "serve/openai/model_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(ModelNames, ModelAnswersToItsNamesAndWhisper1) {
  const ModelNames names("tiny.en", "/cache/openai--whisper-tiny.en", {"ours"});
  EXPECT_EQ(names.own(), "tiny.en");
  for (const char* name : {"tiny.en", "openai--whisper-tiny.en", "openai/whisper-tiny.en", "whisper-1", "ours"})
    EXPECT_TRUE(names.contains(name)) << name;
  EXPECT_FALSE(names.contains("large-v3"));
  EXPECT_FALSE(names.contains(""));
  const ApiError missing = names.missing("large-v3");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.message, "model: 'large-v3' is not loaded here; this server has 'tiny.en'");
}

TEST(ModelNames, PathIsTakenButNotListed) {
  const TempFolder folder;
  const std::string path = (folder.path() / "").string();
  const ModelNames names(path, path);
  EXPECT_TRUE(names.contains(path));
  EXPECT_EQ(names.own(), folder.path().filename().string());
  const ModelNames* const loaded[] = {&names};
  const std::string list = ModelNames::list_json(loaded);
  EXPECT_EQ(list.find(folder.path().string()), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(list)["data"].back()["id"], "whisper-1");
}

TEST(ModelNames, ListHasTheNamesOfAllThatAreLoaded) {
  const ModelNames model("tiny.en", "/cache/tiny.en"), voice("/voices/ours", "/voices/ours", {}, "tts-1");
  const ModelNames* const loaded[] = {&model, &voice};
  std::vector<std::string> names;
  const auto list = nlohmann::json::parse(ModelNames::list_json(loaded));
  for (const auto& one : list["data"]) names.push_back(one["id"]);
  EXPECT_EQ(names, (std::vector<std::string>{"tiny.en", "whisper-1", "ours", "tts-1"}));
}
