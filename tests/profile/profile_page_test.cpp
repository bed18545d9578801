#include "profile/profile_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

ProfilePage two_stages() {
  return {.title = "tutti features <b>.mp3",
          .unit = "files",
          .rate = 10,
          .finding = "decode limits & costs 50 %",
          .stages = {{.name = "decode", .resource = "cpu", .busy = 0.9, .starved = 0.1, .queue = 2, .is_limit = true},
                     {.name = "print", .resource = "io", .busy = 0.1, .starved = 0.9}},
          .fixes = {{"--decode-threads 2", 18, 16, 20, 0.8}}};
}

TEST(ProfilePage, HasFindingStagesAndFixes) {
  const auto html = profile_html(two_stages());
  EXPECT_THAT(html.substr(0, 512), HasSubstr(kProfilePageMark));
  EXPECT_THAT(html, HasSubstr("decode limits &amp; costs 50 %"));
  EXPECT_THAT(html, HasSubstr("stage limit"));
  EXPECT_THAT(html, HasSubstr("--decode-threads 2"));
  EXPECT_THAT(html, HasSubstr("+80 %"));
}

TEST(ProfilePage, LongTitleIsCutAndUnfolds) {
  auto page = two_stages();
  page.title = "tutti features";
  for (int i = 0; i < 40; ++i) page.title += " talks/" + std::to_string(i) + ".mp3";
  const auto html = profile_html(page);
  EXPECT_THAT(html, HasSubstr("…</h1><details"));
  EXPECT_THAT(html, HasSubstr(page.title + "</code></details>"));
}

TEST(ProfilePage, NamesCannotActAsMarkup) {
  EXPECT_THAT(profile_html(two_stages()), Not(HasSubstr("<b>.mp3")));
}

TEST(ProfilePage, TimelineIsDrawnWhereThereIsOne) {
  auto page = two_stages();
  EXPECT_THAT(profile_html(page), Not(HasSubstr("Over time")));
  page.timeline = {.at = {1, 2, 3}, .done = {10, 18, 30}, .stages = {{"decode", {0.5, 0.75, 1}, {0, 0.5, 1}}}};
  const auto html = profile_html(page);
  EXPECT_THAT(html, HasSubstr("Over time"));
  EXPECT_THAT(html, HasSubstr("files a second, up to 12"));
  EXPECT_THAT(html, HasSubstr("0,50.0 333.3,50.0 666.7,25.0 1000.0,0.0"));
}

TEST(ProfilePage, LoadsNothingFromElsewhere) {
  EXPECT_THAT(profile_html(two_stages()), Not(testing::ContainsRegex("https?://")));
}

}  // namespace
}  // namespace tutti
