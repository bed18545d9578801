#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "jobs/job.h"
#include "jobs/publish.h"
#include "transcribe/pool/pool_view.h"

namespace tutti {

/// How far a batch is.
struct BatchCounts {
  std::size_t total = 0;  // how many were requested
  std::size_t done = 0;   // earlier runs included
  std::size_t failed = 0;
  std::size_t cancelled = 0;
  std::size_t ended() const { return done + failed + cancelled; }
  /// One more, which earlier runs may have ended.
  void add(JobState state) {
    ++total;
    if (state == JobState::done) ++done;
    if (state == JobState::dead) ++failed;
    if (state == JobState::cancelled) ++cancelled;
  }
};

/// What a run has to do, once all of it is known to the store.
struct BatchWork {
  std::vector<Seconds> lengths{};  // lengths of the recordings that are to be done, as far as they are known
  std::size_t unknown = 0;         // recordings whose length is not
  void add(std::optional<Seconds> length) {
    if (length)
      lengths.push_back(*length);
    else
      ++unknown;
  }
};

/// A recording gets a device for the first time in this attempt.
struct BatchStart {
  std::size_t number = 0;  // among the recordings that this run has started or ended, from 1
  std::size_t total = 0;   // that this run is to do; those that it has not looked at yet may be done
  std::string name;
  std::string uuid{};
  std::size_t worker = 1;  // the least number that no other recording in work has
  std::string device{};    // as people call it
  int attempt = 1;
  PoolView before{};  // the devices as the decision found them; its next_device is `device`
};

struct BatchEnd {
  std::string name;
  std::string device{};
  Seconds audio{};
  Seconds busy{};          // device time that it took, by the pool's clock
  std::size_t worker = 1;  // as at its start
  int attempts = 1;
  bool copied = false;                 // from a job with the same content
  std::vector<KeptFile> kept_files{};  // at the names of its outputs: they stay, and its texts are beside them
};

/// Receives what happens in a batch. Calls are serialised: one at a time, from any thread.
class BatchObserver {
 public:
  enum class Action { go_on, retry, stop };

  virtual ~BatchObserver() = default;
  virtual void on_accepted(const BatchWork& /*work*/) {}
  virtual void on_start(const BatchStart& /*start*/) {}
  virtual void on_done(const BatchEnd& /*end*/, const BatchCounts& /*counts*/) {}
  /// It failed for good; what shall be done? Others go on meanwhile, but none starts.
  virtual Action on_failed(const BatchEnd& /*end*/, const Error& /*error*/, const BatchCounts& /*counts*/) {
    return Action::go_on;
  }
  /// It failed and will be tried again.
  virtual void on_retry(const BatchEnd& /*end*/, const std::string& /*reason*/, Seconds /*wait*/) {}
};

}  // namespace tutti
