#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/mutex.h"
#include "base/units.h"

namespace tutti {

/// A wait for disk space or write access, for what a batch must not lose or hold against a recording. A writer that
/// finds the disk full, or a folder not writable any more, waits here and writes again when that is over, instead of
/// giving up. Thread-safe.
class DiskSpaceWait {
 public:
  /// What is waited for.
  enum class Hold { none, full, not_writable };

  /// What one of those who wait does so for, and why, in words.
  struct Reason {
    Hold hold = Hold::none;
    std::string why{};
  };
  using Reasons = std::list<Reason>;

  /// A wait that lasts as long as the object.
  class Waiting {
   public:
    Waiting(DiskSpaceWait& wait, Bytes needed, const Error& error) : wait_(wait), mine_(wait_.enter(needed, error)) {}
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    ~Waiting() { wait_.leave(mine_); }

   private:
    DiskSpaceWait& wait_;
    const Reasons::iterator mine_;
  };

  /// A folder that is written to, and what people call that.
  struct Location {
    std::filesystem::path folder{};
    const char* what = "";
  };

  /// `locations` are those that an error may be about; an empty folder is none. `promise`: what happens as soon as it
  /// can, in words. `changed` is called when `hold` has changed, by one thread at a time, after people have been
  /// notified.
  DiskSpaceWait(std::vector<Location> locations, std::string promise, std::function<void()> changed)
      : locations_(std::move(locations)), promise_(std::move(promise)), changed_(std::move(changed)) {}

  /// Calls `write`, and once more after each of growing pauses as long as waiting may end its error. Only one waiting
  /// thread writes at a time, because all together would fill what space there is. `needed`: how much it writes, where
  /// that is known. Fault::cancelled when the wait is closed meanwhile.
  template <class Write>
  auto retry_until_written(Bytes needed, Write write) -> decltype(write()) {
    auto written = write();
    if (written || !is_curable(written.error())) return written;
    const Waiting waiting(*this, needed, written.error());
    for (Seconds pause = kFirstPause; sleep(pause); pause = std::min(2 * pause, kLongestPause)) {
      const MutexLock turn(turn_);
      written = write();
      if (written || !is_curable(written.error())) return written;
    }
    written.error().fault = Fault::cancelled;
    return written;
  }

  /// For a caller that retries by itself: it waits until it destroys the result.
  std::unique_ptr<Waiting> wait(Bytes needed, const Error& error) {
    return std::make_unique<Waiting>(*this, needed, error);
  }
  /// Whether waiting may end the error: there is no space, or one of the locations is not writable now.
  bool is_curable(const Error& error) const;
  /// Whether the first location, where the next output would go, has space and is writable. True where neither its
  /// folder nor its disk reports it.
  Result<void> expect_some() const;
  /// Until there is.
  void await_some();
  /// What the one who has waited longest waits for: nothing new should be begun.
  Hold hold() const;
  /// Why that one waits, for people; empty while none waits.
  std::string why() const;
  /// From now on no call waits.
  void close();

 private:
  static constexpr Seconds kFirstPause{0.25}, kLongestPause{5};

  struct State {
    Reasons waiting{};  // in the order in which they came
    bool over = false;  // no other wait begins
    Hold hold() const { return waiting.empty() ? Hold::none : waiting.front().hold; }
    std::string why() const { return waiting.empty() ? std::string() : waiting.front().why; }
  };

  Reasons::iterator enter(Bytes needed, const Error& error);
  void leave(Reasons::iterator mine);
  void report();
  /// False: the wait was closed.
  bool sleep(Seconds pause);
  std::string words(Bytes needed, const Error& error) const;

  const std::vector<Location> locations_;
  const std::string promise_;
  const std::function<void()> changed_;
  Guarded<State> now_{};
  Mutex turn_{};       // to write again
  Mutex reporting_{};  // the latest report to people is the present state
  Hold reported_ TUTTI_GUARDED_BY(reporting_) = Hold::none;
};

/// The two disks that a run of jobs may have to wait for. `changed` is called when the wait for one has begun or ended.
struct RunSpaces {
  /// The folders of the outputs and of the store; empty: none.
  RunSpaces(const std::filesystem::path& outputs, const std::filesystem::path& state,
            const std::function<void()>& changed);
  /// Which full disk or folder is waited for, for people; empty: none.
  std::string held_up() const;
  /// No call waits any more.
  void close();

  DiskSpaceWait output;  // for results and the store; also for other writers to the store
  DiskSpaceWait spool;   // for decoded audio
};

}  // namespace tutti
