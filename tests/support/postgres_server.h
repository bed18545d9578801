#pragma once

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/run_program.h"
#include "support/temp_folder.h"

namespace tutti {

/// A PostgreSQL server of the test's own, in a folder that goes with it, reached by a socket there. Needs Debian's
/// postgresql-15 (tools/setup.sh). It runs as the user postgres where the test is root, which PostgreSQL refuses to be.
class PostgresServer {
 public:
  /// It need not outlive a power cut, so it waits for no disk.
  static constexpr const char* kForTests = "-c fsync=off -c full_page_writes=off -c autovacuum=off";

  /// `settings`: of the server, as its command line has them.
  explicit PostgresServer(std::string settings = kForTests) : settings_(std::move(settings)) {
    if (::geteuid() == 0) {
      const passwd* user = ::getpwnam("postgres");
      if (!user) throw std::runtime_error("no user postgres: install postgresql-15 (tools/setup.sh)");
      as_user_ = {"/usr/sbin/runuser", "-u", "postgres", "--"};
      if (::chown(folder_.path().c_str(), user->pw_uid, user->pw_gid) != 0) throw std::runtime_error("no chown");
    }
    must({program("initdb"), "-D", data(), "-U", "tutti", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
          "--no-instructions"});
    start();
  }
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer() { run({program("pg_ctl"), "-D", data(), "-m", "immediate", "stop"}); }

  /// The server of this test program, started when first needed and stopped at its end.
  static PostgresServer& shared() {
    static PostgresServer server;
    return server;
  }

  void start() {
    must({program("pg_ctl"), "-D", data(), "-w", "-l", (folder_.path() / "log").string(), "-o",
          "-c listen_addresses= -c jit=off -c max_connections=200 " + settings_ + " -k " + folder_.path().string(),
          "start"});
  }
  /// As a power cut would: connections are cut, and what was not committed is undone at the next start.
  void stop_at_once() { must({program("pg_ctl"), "-D", data(), "-m", "immediate", "stop"}); }

  /// The address of a database, in which tables are made in `schema`.
  std::string url(const std::string& schema, const std::string& database = "postgres") const {
    return "postgres://tutti@/" + database + "?host=" + folder_.path().string() + "&options=-csearch_path%3D" + schema;
  }

  /// Runs statements with psql, and returns what they print, as rows of fields between bars.
  std::string psql(const std::string& sql, const std::string& schema = "public") const {
    return must({program("psql"), url(schema), "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-c", sql});
  }

 private:
  std::string data() const { return folder_.path() / "data"; }

  /// Of the newest version that is installed.
  static std::string program(const std::string& name) {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none))
      if (std::filesystem::exists(version.path() / "bin" / name)) found.push_back(version.path() / "bin" / name);
    if (found.empty()) throw std::runtime_error("no " + name + ": install postgresql-15 (tools/setup.sh)");
    return *std::ranges::max_element(found);
  }
  ProgramEnd run(const std::vector<std::string>& words) const {
    std::vector<std::string> all = as_user_;
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all);
  }
  std::string must(const std::vector<std::string>& words) const {
    const ProgramEnd end = run(words);
    if (end.exit_code != 0) throw std::runtime_error(words[0] + ": " + end.err + end.out);
    return end.out;
  }

  const std::string settings_;
  TempFolder folder_;
  std::vector<std::string> as_user_;
};

}  // namespace tutti
