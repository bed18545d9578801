#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/units.h"
#include "jobs/job.h"
#include "serve/http/http.h"
#include "transcript/transcript.h"

namespace tutti {

/// How far a job is that this server has in work.
struct JobProgress {
  std::string phase{};  // "starting", "fetching", "decoding", "transcribing"
  Seconds position{};   // position in its recording
  Seconds length{};     // 0: not known yet
  double share() const { return length > Seconds(0) ? position / length : 0; }
};

/// The jobs in work with their segments so far, and the clients that follow jobs: each gets the state, all segments
/// from the start, and what comes. Thread-safe; sends under its lock, which waits for no client.
class JobEvents {
 public:
  /// An attempt begins: what an earlier one has found counts no more.
  void begin(JobId job);
  void phase(JobId job, const std::string& phase);
  /// Its audio lasts so long, and is being transcribed.
  void audio(JobId job, Seconds length);
  void segments(JobId job, Seconds position, const std::vector<Segment>& fresh);
  /// The attempt has ended, and nothing is known of it any more.
  void end(JobId job);

  /// {"type": "job.state", "job": ...} for those who follow the job, unless they have just that; with `last` their
  /// streams end.
  void state(JobId job, const std::string& json, bool last);
  /// Begins a stream for one more.
  void follow(JobId job, const std::string& json, const std::shared_ptr<HttpExchange>& exchange);
  /// Those that are followed and not in work here.
  std::vector<JobId> followed() const;
  std::optional<JobProgress> progress(JobId job) const;
  /// Ends all streams, and each later one at once: the server stops.
  void close();

 private:
  struct Entry {
    std::optional<JobProgress> progress{};  // none: it is not in work here
    std::vector<std::string> segments{};    // events
    std::string state{};                    // as it was sent last
    std::vector<std::shared_ptr<HttpExchange>> streams{};
  };
  struct Jobs {
    std::map<JobId, Entry> entries{};
    bool closed = false;
  };

  static void send(Entry& entry, const std::string& event);
  static void drop_if_idle(Jobs& jobs, JobId job);
  void change(JobId job, const std::function<void(JobProgress&)>& change);

  Guarded<Jobs> jobs_{};
};

}  // namespace tutti
