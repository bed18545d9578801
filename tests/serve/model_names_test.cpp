#include "serve/openai/model_names.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(names.list_json().find(folder.path().string()), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(names.list_json())["data"].back()["id"], "whisper-1");
}
