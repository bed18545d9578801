#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "jobs/sqlite/database.h"

namespace tutti {

/// Runs the transactions of many threads on one connection. A commit waits for the disk, milliseconds on many. Threads
/// that come meanwhile wait, and then all of them share the next commit: what costs one thread one sync costs sixteen
/// threads one sync. Each still succeeds or fails alone (a savepoint each), and each returns only when it is on disk.
class GroupCommit {
 public:
  explicit GroupCommit(Database database) : database_(std::move(database)) {}

  /// Blocks until `work` is committed. An error is the statement's that failed, or the commit's; then nothing of `work`
  /// was done. What else `work` throws is thrown here.
  Result<void> run(std::function<void(Database& database)> work);

 private:
  struct Item {
    std::function<void(Database&)> work;
    std::optional<Error> failed{};
    std::exception_ptr broken{};
    bool done = false;
  };

  void commit(const std::vector<Item*>& items);
  void attempt(Item& item);

  Mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item*> waiting_ TUTTI_GUARDED_BY(mutex_);
  bool at_work_ TUTTI_GUARDED_BY(mutex_) = false;  // a thread uses database_
  Database database_;
};

}  // namespace tutti
