#include "serve/http/form.h"

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace tutti {
namespace {

/// The status that a form of `length` bytes is refused with; 0: it is not.
int refused(std::uint64_t length, std::uint64_t most_bytes, const std::filesystem::path& folder) {
  const auto error = refused_upload({.length = length}, most_bytes, folder);
  return error ? error->status : 0;
}

TEST(RefusedUpload, MayHaveFieldsBesideARecordingOfTheMostBytes) {
  const TempFolder folder;
  constexpr std::uint64_t kMost = 1000, kFields = std::uint64_t{5} << 20;
  EXPECT_EQ(refused(0, kMost, folder.path()), 0);
  EXPECT_EQ(refused(kMost + kFields, kMost, folder.path()), 0);
  EXPECT_EQ(refused(kMost + kFields + 1, kMost, folder.path()), 413);
  EXPECT_FALSE(refused_upload({}, kMost, folder.path())) << "its length is not known before it has come";
}

TEST(RefusedUpload, NeedsSpaceOnTheDiskThatItGoesTo) {
  const TempFolder folder;
  constexpr std::uint64_t kPetabyte = 1'000'000'000'000'000;
  EXPECT_EQ(refused(kPetabyte, kPetabyte, folder.path()), 503);
  const std::string message = refused_upload({.length = kPetabyte}, kPetabyte, folder.path())->message;
  EXPECT_NE(message.find("the upload of 1000000.0 GB, beside 67.1 MB that stay free, takes"), std::string::npos)
      << message;
}

}  // namespace
}  // namespace tutti
