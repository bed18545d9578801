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

TEST(StoreUrl, APostgresAddressIsAServersAndIsPassedOnWhole) {
  for (const char* url : {"postgres://db.example/jobs", "postgresql://tutti:s3cret@db.example/jobs"}) {
    const auto parsed = StoreUrl::parse(url);
    ASSERT_TRUE(parsed) << url;
    EXPECT_TRUE(parsed->is_server());
    EXPECT_EQ(parsed->server(), url);
  }
  EXPECT_FALSE(StoreUrl::parse("/var/lib/tutti")->is_server());
}

TEST(StoreUrl, AnotherServersAddressIsRefusedByName) {
  for (const char* url : {"mysql://db/jobs", "redis://db.example/jobs"}) {
    const auto refused = StoreUrl::parse(url);
    ASSERT_FALSE(refused) << url;
    EXPECT_EQ(refused.error().fault, Fault::usage);
    EXPECT_NE(refused.error().what.find(url), std::string::npos) << refused.error().what;
  }
  EXPECT_FALSE(StoreUrl::parse("file://host/folder"));
}

TEST(StoreUrl, APasswordIsNeverShown) {
  const auto refused = StoreUrl::parse("mysql://tutti:s3cret@db.example:5432/jobs?sslmode=require");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text().find("s3cret"), std::string::npos) << refused.error().text();
  EXPECT_NE(refused.error().text().find("mysql://tutti:***@db.example:5432/jobs"), std::string::npos);
  EXPECT_EQ(StoreUrl::parse("postgres://tutti:s3cret@db/jobs")->text(), "postgres://tutti:***@db/jobs");
  EXPECT_EQ(StoreUrl::parse("postgres://db/jobs?user=tutti&password=s3cret&sslmode=require")->text(),
            "postgres://db/jobs?user=tutti&password=***&sslmode=require");
  EXPECT_EQ(without_password("postgres://db.example:5432/jobs"), "postgres://db.example:5432/jobs");
  EXPECT_EQ(without_password("postgres://tutti:a@b@db/jobs"), "postgres://tutti:***@db/jobs") << "an @ in it";
  EXPECT_EQ(without_password("postgres://db/jobs?mail=a@b"), "postgres://db/jobs?mail=a@b");
}

}  // namespace
}  // namespace tutti
