#include "jobs/sqlite/group_commit.h"

namespace tutti {

Result<void> GroupCommit::run(std::function<void(Database&)> work) {
  Item mine{.work = std::move(work)};
  MutexLock lock(mutex_);
  waiting_.push_back(&mine);
  changed_.wait(lock.held(), [&]() TUTTI_REQUIRES(mutex_) { return mine.done || !at_work_; });
  if (!mine.done) {  // no commit is at work: all who wait, this thread among them, are this thread's to commit
    at_work_ = true;
    const auto items = std::exchange(waiting_, {});
    lock.unlock();
    commit(items);
    lock.lock();
    for (Item* item : items) item->done = true;
    at_work_ = false;
    changed_.notify_all();
  }
  lock.unlock();
  if (mine.broken) std::rethrow_exception(mine.broken);
  if (mine.failed) return tl::unexpected(*mine.failed);
  return {};
}

void GroupCommit::commit(const std::vector<Item*>& items) {
  try {
    database_.run("BEGIN IMMEDIATE");
    for (Item* item : items) attempt(*item);
    database_.run("COMMIT");
  } catch (const SqlError& failed) {
    database_.rollback();
    for (Item* item : items) item->failed = failed.error;
  }
}

void GroupCommit::attempt(Item& item) {
  database_.run("SAVEPOINT one");
  try {
    item.work(database_);
  } catch (const SqlError& failed) {
    item.failed = failed.error;
  } catch (...) {
    item.broken = std::current_exception();
  }
  if (item.failed || item.broken) database_.run("ROLLBACK TO one");  // fails where the disk undid it all: for everybody
  database_.run("RELEASE one");
}

}  // namespace tutti
