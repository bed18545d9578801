#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

namespace tutti {

/// Runs `statements` on the SQLite database at `file` as another process does. It waits for locks up to ten seconds:
/// the program under test may write at the same time.
inline void run_sql(const std::filesystem::path& file, const std::string& statements) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &database), SQLITE_OK);
  sqlite3_busy_timeout(database, 10000);
  EXPECT_EQ(sqlite3_exec(database, statements.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(database);
  sqlite3_close(database);
}

}  // namespace tutti
