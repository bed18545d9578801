#include "serve/jobs/sealed_texts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "support/temp_folder.h"

using namespace tutti;

TEST(SealedTexts, AreReadByTheSameKeyAlone) {
  const TempFolder folder;
  const auto secrets = SealedTexts::open(folder / "key").value();
  const std::string address = "https://example.org/a.mp3?signature=abc", sealed = secrets.seal(address);
  EXPECT_EQ(sealed.find("signature"), std::string::npos);
  EXPECT_NE(sealed, secrets.seal(address));
  EXPECT_EQ(SealedTexts::open(folder / "key")->unseal(sealed), address);
  EXPECT_EQ(SealedTexts::open(folder / "other")->unseal(sealed), std::nullopt);
  EXPECT_EQ(secrets.unseal(secrets.seal("")), "");
}

TEST(SealedTexts, ChangedOrCutTextIsNone) {
  const TempFolder folder;
  const auto secrets = SealedTexts::open(folder / "key").value();
  std::string sealed = secrets.seal("an address");
  EXPECT_EQ(secrets.unseal(sealed.substr(0, 20)), std::nullopt);
  sealed.back() = sealed.back() == '0' ? '1' : '0';
  EXPECT_EQ(secrets.unseal(sealed), std::nullopt);
  EXPECT_EQ(secrets.unseal("sealed:xyz"), std::nullopt);
  EXPECT_EQ(secrets.unseal("https://example.org/"), "https://example.org/")
      << "a store of an earlier version has it so";
}

TEST(SealedTexts, KeyIsItsUsersAloneAndNothingElseIsOne) {
  const TempFolder folder;
  ASSERT_TRUE(SealedTexts::open(folder / "key"));
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "key").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600U);
  EXPECT_EQ(std::ranges::distance(std::filesystem::directory_iterator(folder.path())), 1)
      << "nothing is left beside it";
  ASSERT_TRUE(write_file_atomically(folder / "key", "no key"));
  EXPECT_FALSE(SealedTexts::open(folder / "key"));
}
