#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "metrics/histogram.h"
#include "transcribe/service/fair_queue.h"
#include "transcribe/service/speech_run.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// How long the requests that are done took: from their arrival to their end, until they were begun, and of it the
/// devices' encoder and decoder.
struct RequestTimes {
  Histogram whole{}, waiting{}, encoder{}, decoder{};
};

/// The requests of a service: which one is next, which may decode now, and how they fare. Those that are not
/// interactive leave threads and a core to those that are. Thread-safe.
class RequestQueue {
 private:
  struct State;

 public:
  using Run = std::shared_ptr<SpeechRun>;

  /// `most_bulk` requests that are not interactive are in work at once. Decoding one takes one of the `cores`.
  RequestQueue(std::size_t most_bulk, int cores) : most_bulk_(most_bulk), cores_(cores) {}

  /// Puts it in; cancelled at once where the queue is closed.
  Run add(SpeechRequest request, Seconds longest);
  /// Waits for the next one, which is in work from then on. Null: the queue is closed.
  Run next();
  /// It is done, after so long in work.
  void record(const SpeechRun& run, const FileOutcome& outcome, Seconds took);
  /// It is out of work, after so long; `audio`: of one that is done, else why it is not. To be called once its listener
  /// knows.
  void end(const Run& run, const Result<Seconds>& audio, Seconds took);
  /// Cancels it. True: it was not in work, and is out now.
  bool cancel(const Run& run);
  /// Cancels all of them, for good. Returns those that were not in work.
  std::vector<Run> close();

  /// A core that decodes for a request in work, as long as it is there.
  class Core {
   public:
    /// Waits for one, or until the request is cancelled. Bulk leaves one of them to interactive requests.
    Core(RequestQueue& queue, const Run& run);
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;
    ~Core();

   private:
    Guarded<State>& state_;
    const int bulk_;
  };

  SpeechLoad load() const;
  const RequestTimes& times() const { return times_; }
  /// Those in work, then those that wait; no more than people look at.
  std::vector<Run> shown() const;
  /// Null: there is none of that id.
  Run find(const std::string& id) const;
  /// Waits until there is none, but no longer than `most`. False: there is.
  bool wait_until_idle(Seconds most);

 private:
  struct State {
    FairQueue<Run> waiting{};
    std::vector<Run> running{};
    std::size_t bulk = 0;  // requests among them that are not interactive
    int cores = 0;         // that decode for one of them
    int bulk_cores = 0;    // for one that is not interactive
    bool closed = false;
    std::uint64_t last_id = 0;
    SpeechLoad ended{};
    Seconds mean_time{};  // mean time of the latest requests in work
  };

  /// The least urgent class of which one may begin.
  JobClass admitted(const State& state) const {
    return state.bulk < most_bulk_ ? JobClass::batch : JobClass::interactive;
  }

  const std::size_t most_bulk_;
  const int cores_;
  Guarded<State> state_{};
  RequestTimes times_{};
};

}  // namespace tutti
