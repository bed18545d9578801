#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "fake_store_clock.h"
#include "jobs/open_store.h"
#include "jobs/postgres/schema.h"
#include "postgres/connection.h"
#include "support/postgres_server.h"

namespace tutti {

/// A schema of the test server for every folder that a test would have its store in, with a clock that goes by the
/// test's: a server has one clock for all processes, whatever the clocks of their machines do. A later test gets one of
/// an earlier test, emptied: that takes a tenth of the time.
class TestSchemas {
 public:
  static TestSchemas& shared() {
    static TestSchemas schemas;
    return schemas;
  }

  /// Where the store of a folder is, once it has been opened.
  std::string schema_of(const std::filesystem::path& folder) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(schemas_, folder, &Schema::folder)->name;
  }

  /// The address of the folder's schema.
  std::string url_for(const StoreOptions& options) {
    const std::lock_guard lock(mutex_);
    const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
    auto found = std::ranges::find(schemas_, options.url.folder(), &Schema::folder);
    if (found != schemas_.end()) return PostgresServer::shared().url(found->name);
    found = std::ranges::find_if(schemas_, [&](const Schema& schema) { return schema.test != test; });
    if (found == schemas_.end()) {
      schemas_.push_back({.name = "s" + std::to_string(schemas_.size())});
      found = schemas_.end() - 1;
      make(found->name);
    } else {
      empty(found->name);
    }
    found->folder = options.url.folder();
    found->test = test;
    if (const auto* clock = dynamic_cast<const FakeStoreClock*>(options.clock)) follow(*clock, found->name);
    return PostgresServer::shared().url(found->name);
  }

 private:
  struct Schema {
    std::string name{};
    std::filesystem::path folder{};
    std::string test{};  // that it is used by
  };

  void make(const std::string& schema) {
    run("CREATE SCHEMA " + schema);
    if (const auto first = open_store({.url = *StoreUrl::parse(PostgresServer::shared().url(schema))}); !first)
      throw std::runtime_error(first.error().text());
    run("CREATE TABLE " + schema + ".clock AS SELECT 0::bigint AS ms; CREATE OR REPLACE FUNCTION " + schema +
        ".tutti_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT ms FROM " + schema + ".clock $$");
  }
  void empty(const std::string& schema) {
    std::string statements = "UPDATE " + schema +
                             ".tutti_meta SET value = " + std::to_string(postgres::newest_version()) +
                             " WHERE name = 'version'";
    for (const char* table :
         {"owners", "run_devices", "run_idle", "runs", "jobs", "attempts", "results", "written", "speeds", "events"})
      statements += "; DELETE FROM " + schema + ".tutti_" + table;
    run(statements);
  }
  void follow(const FakeStoreClock& clock, const std::string& schema) {
    run("UPDATE " + schema + ".clock SET ms = " + std::to_string(clock.wall().time_since_epoch().count()) +
        "; UPDATE " + schema + ".tutti_meta SET value = 0 WHERE name = 'latest'");
    clock.on_advance = [this, schema](std::chrono::milliseconds by) {
      const std::lock_guard moving(mutex_);
      run("UPDATE " + schema + ".clock SET ms = ms + " + std::to_string(by.count()));
    };
  }
  void run(const std::string& sql) {
    auto done = connection_->script(sql);
    if (!done && done.error().is_lost) {  // a test has restarted the server
      connection_ = postgres::Connection::open(PostgresServer::shared().url("public"));
      done = connection_->script(sql);
    }
    if (!done) throw std::runtime_error(done.error().text);
  }

  std::mutex mutex_;
  std::vector<Schema> schemas_;
  Result<postgres::Connection> connection_ = postgres::Connection::open(PostgresServer::shared().url("public"));
};

inline Result<std::unique_ptr<JobStore>> open_on_server(const StoreOptions& options) {
  StoreOptions there = options;
  there.url = *StoreUrl::parse(TestSchemas::shared().url_for(options));
  return open_store(there);
}

}  // namespace tutti
