#include "transcribe/inputs/query/query.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "support/run_sql.h"
#include "support/temp_folder.h"

namespace tutti {
namespace {

using testing::HasSubstr;
using testing::Not;

class SqliteQuery : public testing::Test {
 protected:
  void SetUp() override {
    run_sql(folder_ / "archive.db",
            "CREATE TABLE assets(id TEXT, name TEXT, seconds REAL, n INTEGER, gone TEXT);"
            "INSERT INTO assets VALUES('a', 'Zürich', 61.5, 9007199254740993, NULL), ('b', 'x', NULL, 0, 'yes')");
  }
  Result<void> query(const std::string& sql) {
    return query_sqlite(folder_ / "archive.db", sql,
                        [this](ManifestAsset&& asset) { return assets_.push_back(std::move(asset)), true; });
  }

  TempFolder folder_;
  std::vector<ManifestAsset> assets_;
};

TEST_F(SqliteQuery, ColumnsBecomeFieldsOfTheirKind) {
  ASSERT_TRUE(query("SELECT id, name, seconds AS media_duration_seconds, n, gone FROM assets ORDER BY id"));
  ASSERT_EQ(assets_.size(), 2U);
  EXPECT_EQ(assets_[0][1].value, ManifestValue("Zürich"));
  EXPECT_EQ(assets_[0][2].name, "media_duration_seconds");
  EXPECT_EQ(assets_[0][2].value, ManifestValue(61.5));
  EXPECT_EQ(assets_[0][3].value, ManifestValue(std::int64_t{9007199254740993}));
  EXPECT_EQ(assets_[0][4].value, ManifestValue(std::monostate{}));
}

TEST_F(SqliteQuery, TheDatabaseCannotBeChangedByIt) {
  const auto changed = query("DELETE FROM assets");
  ASSERT_FALSE(changed);
  EXPECT_THAT(changed.error().what, HasSubstr("readonly"));
}

TEST_F(SqliteQuery, ErrorsQuoteTheDatabase) {
  EXPECT_THAT(query("SELECT nowhere FROM assets").error().text(), HasSubstr("no such column: nowhere"));
  EXPECT_THAT(query("").error().text(), HasSubstr("expected a query"));
  EXPECT_THAT(query_sqlite(folder_ / "none.db", "SELECT 1", {}).error().text(), HasSubstr("unable to open"));
}

TEST_F(SqliteQuery, OnlyAMistakeInTheQueryIsTheCommandLines) {
  EXPECT_EQ(query("SELECT nowhere FROM assets").error().fault, Fault::usage);
  EXPECT_EQ(query("DELETE FROM assets").error().fault, Fault::usage);
  EXPECT_EQ(query_sqlite(folder_ / "none.db", "SELECT 1", {}).error().fault, Fault::missing);
  ASSERT_TRUE(write_file_atomically(folder_ / "notes.db", std::string(4096, 'x')));
  const auto no_database = query_sqlite(folder_ / "notes.db", "SELECT 1 FROM assets", {});
  EXPECT_EQ(no_database.error().fault, Fault::corrupt) << no_database.error().text();
  EXPECT_THAT(no_database.error().text(), Not(HasSubstr("See the query")));
}

TEST(PostgresQuery, AnUnreachableServerIsAnErrorThatKeepsThePassword) {
  const TempFolder folder;  // no server's socket in it
  const auto answer = query_postgres("host=" + folder.path().string() + " user=u password=secret", "SELECT 1", {});
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().text(), HasSubstr("PostgreSQL"));  // also where libpq is absent
  EXPECT_THAT(answer.error().text(), Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tutti
