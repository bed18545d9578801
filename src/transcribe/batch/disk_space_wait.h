#pragma once

#include <algorithm>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/guarded.h"
#include "base/units.h"

namespace tutti {

/// Where a batch writes what must not be lost, or be held against a recording: whoever finds the disk full, or a folder
/// that may not be written to any more, waits here and writes again when that is over, instead of giving up.
/// Thread-safe.
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

  /// Somebody waits while it lives.
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

  /// `places` are those that an error may be of; an empty folder is none. `promise`: what happens as soon as it can, in
  /// words. `changed` is called when `hold` has changed, by one thread at a time; behind it people have been told.
  DiskSpaceWait(std::vector<Location> locations, std::string promise, std::function<void()> changed)
      : locations_(std::move(locations)), promise_(std::move(promise)), changed_(std::move(changed)) {}

  /// `write`, and once more after each of growing pauses as long as waiting would mend what it says; of those who wait
  /// one at a time, because all together would fill what room there is. `needed`: what it writes, as far as that is
  /// known. Fault::cancelled when somebody lets go meanwhile.
  template <class Write>
  auto retry_until_written(Bytes needed, Write write) -> decltype(write()) {
    auto written = write();
    if (written || !would_mend(written.error())) return written;
    const Waiting waiting(*this, needed, written.error());
    for (Seconds pause = kFirstPause; sleep(pause); pause = std::min(2 * pause, kLongestPause)) {
      const std::lock_guard turn(turn_);
      written = write();
      if (written || !would_mend(written.error())) return written;
    }
    written.error().fault = Fault::cancelled;
    return written;
  }

  /// For whoever tries again by himself: waits while what he gets lives.
  std::unique_ptr<Waiting> wait(Bytes needed, const Error& error) {
    return std::make_unique<Waiting>(*this, needed, error);
  }
  /// Whether waiting may mend it: there is no room, or one of the places may not be written to now.
  bool would_mend(const Error& error) const;
  /// In the first place, for what would be begun next, by what its folder and its disk say; yes where they say nothing.
  Result<void> expect_some() const;
  /// Until there is.
  void await_some();
  /// What the one who has waited longest waits for: nothing new should be begun.
  Hold hold() const;
  /// Why he does, for people; empty while nobody waits.
  std::string why() const;
  /// From now on nobody waits.
  void close();

 private:
  static constexpr Seconds kFirstPause{0.25}, kLongestPause{5};

  struct State {
    Reasons waiting{};  // in the order in which they came
    bool over = false;  // nobody else begins to wait
    Hold hold() const { return waiting.empty() ? Hold::none : waiting.front().hold; }
    std::string why() const { return waiting.empty() ? std::string() : waiting.front().why; }
  };

  Reasons::iterator enter(Bytes needed, const Error& error);
  void leave(Reasons::iterator mine);
  void tell();
  /// False: somebody lets go.
  bool sleep(Seconds pause);
  std::string words(Bytes needed, const Error& error) const;

  const std::vector<Location> locations_;
  const std::string promise_;
  const std::function<void()> changed_;
  Guarded<State> now_{};
  std::mutex turn_{};     // to write again
  std::mutex telling_{};  // what people were told last is how it is
  Hold reported_ = Hold::none;
};

}  // namespace tutti
