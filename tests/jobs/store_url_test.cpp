#include "jobs/store_url.h"

#include <gtest/gtest.h>

namespace tutti {
namespace {

TEST(StoreUrl, AFolderIsAFolderByPathOrByUrl) {
  EXPECT_EQ(StoreUrl::parse("/var/lib/tutti")->folder(), "/var/lib/tutti");
  EXPECT_EQ(StoreUrl::parse("state")->folder(), "state");
  EXPECT_EQ(StoreUrl::parse("a:b//c")->folder(), "a:b//c");
  EXPECT_EQ(StoreUrl::parse("./odd://name")->folder(), "./odd://name");
  EXPECT_EQ(StoreUrl::parse("file:///var/lib/tutti")->folder(), "/var/lib/tutti");
}

TEST(StoreUrl, AServersAddressIsRefusedByName) {
  for (const char* url : {"postgres://db.example/jobs", "postgresql://db.example/jobs", "mysql://db/jobs"}) {
    const auto refused = StoreUrl::parse(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_NE(refused.error().what.find(url), std::string::npos) << refused.error().what;
  }
  EXPECT_FALSE(StoreUrl::parse("file://host/folder"));
}

TEST(StoreUrl, APasswordIsNeverShown) {
  const auto refused = StoreUrl::parse("postgres://tutti:s3cret@db.example:5432/jobs?sslmode=require");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text().find("s3cret"), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find("postgres://tutti:***@db.example:5432/jobs"), std::string::npos);
  EXPECT_EQ(without_password("postgres://db.example:5432/jobs"), "postgres://db.example:5432/jobs");
  EXPECT_EQ(without_password("postgres://tutti:a@b@db/jobs"), "postgres://tutti:***@db/jobs") << "an @ in it";
  EXPECT_EQ(without_password("postgres://db/jobs?mail=a@b"), "postgres://db/jobs?mail=a@b");
}

}  // namespace
}  // namespace tutti
