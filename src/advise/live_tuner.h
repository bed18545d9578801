#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/pipeline_model.h"
#include "flow/report.h"

namespace tutti {

/// A stage of a running pipeline that counts for its rate.
struct LiveStage {
  std::string name;
  StageResource resource = StageResource::cpu;
  bool is_open = false;  ///< its threads may be set
  int least = 1;         ///< threads that it keeps: a device does several items at once for little more than one
  int most = 64;         ///< threads that it may get: what memory is planned for
};

/// What the machine leaves to a run at a moment.
struct LiveMachine {
  double cores = 1;    ///< that the run may use: those of its affinity and its quota
  double on_core = 1;  ///< for how much of their time items of computing stages held a core, since the start
  /// The least that this may have been, where it is not known: other programs fill the machine.
  double least_on_core = 1;
  /// Most items in threads and queues together, as a multiple of those that may be there now; below 1: as for 1.
  double growth = std::numeric_limits<double>::infinity();
};

/// Threads of stages, by name.
using ThreadSettings = std::vector<std::pair<std::string, int>>;

/// What tuning came to.
struct TuningResult {
  ThreadSettings before{};  ///< of the open stages, when it began
  ThreadSettings now{};
  double rate_before = 0;  ///< items a second, as measured with `before`; 0: no such measurement
  double rate_now = 0;     ///< likewise with `now`
  int rounds = 0;          ///< how often tuning began, again after the rate had drifted included
  bool is_settled = false;

  bool has_changed() const { return before != now; }
};

/// Finds the threads of a running pipeline's open stages that give the highest rate: measures a few items, solves for
/// the threads that the cost of an item needs (tuned_threads), and corrects that by what it then measures, twice at
/// most. Where more threads would pay only if items waited for no core, which is not known, it tries them, and keeps
/// them where the rate that it measures is higher by 5 % or more. A first measurement that is far below its replay is
/// made again, for something may have held up the run's start. From then on it watches the rate, and begins again
/// where that has drifted by 15 %.
///
/// It settles within 200 items; of items that take long, within 10 s once it has the least it can go by. Pure: time and
/// readings are the caller's, who sets what it returns. Not thread-safe.
class LiveTuner {
 public:
  struct Options {
    std::vector<LiveStage> stages{};  ///< in the order in which an item passes them
    int most_threads = 64;            ///< of all open stages together; at least as many as there are
  };
  explicit LiveTuner(Options options) : options_(std::move(options)) {}

  /// A reading of the pipeline's clocks `at` seconds after its start, several times a second. Returns the threads to
  /// set now; mostly none. A stage that is not in the report counts as one without items. `machine` is called where it
  /// matters.
  ThreadSettings look(Seconds at, const PipelineReport& report, const std::function<LiveMachine()>& machine);

  const TuningResult& result() const { return result_; }

 private:
  struct Reading {
    Seconds at{};
    std::vector<HistogramSnapshot> service{};  // by stage, since the start
    std::vector<int> threads{};
    std::vector<std::size_t> queues{};

    std::size_t done() const { return static_cast<std::size_t>(service.back().count); }
  };
  struct Trial {
    ThreadSettings threads{};
    double rate = 0;
    double error = 0;       // standard error of the rate, as a share of it
    bool is_guess = false;  // by LiveMachine::least_on_core: it has to prove itself
  };

  Reading reading_of(Seconds at, const PipelineReport& report) const;
  /// The pipeline with the costs of the items since `from`.
  PipelineModel model_of(const Reading& from, const Reading& now, const LiveMachine& machine) const;
  ThreadSettings settings_of(const std::vector<int>& threads) const;
  /// What the stages should have; empty where that gains nothing beside what they have. None where the run is so much
  /// slower than its replay that it waits for something else.
  std::optional<ThreadSettings> solved(const Reading& now, const LiveMachine& machine) const;
  ThreadSettings measure(const Reading& now, const std::function<LiveMachine()>& machine);
  ThreadSettings watch(const Reading& now, const std::function<LiveMachine()>& machine);
  ThreadSettings change_to(ThreadSettings settings, const Reading& now);
  ThreadSettings settle(const Reading& now);
  /// The trial whose threads are kept.
  const Trial& chosen_trial() const;
  void begin(const Reading& now);
  /// Whether items have passed since the window's start that tell something.
  bool has_measured(const Reading& now, std::size_t items) const;
  /// The rate since the window's start, with the threads that are set.
  Trial measured(const Reading& now) const;

  Options options_;
  TuningResult result_{};
  std::optional<Reading> begun_{};   // where this round began: costs are of all items since
  std::optional<Reading> window_{};  // where the rate is measured from
  std::size_t window_from_ = 0;      // items done from which the window counts: those before were under way
  std::vector<Trial> trials_{};      // settings of this round with their rates
  bool is_guessing_ = false;         // what is set now is a guess; one a round
  double usual_rate_ = 0;            // of the first window behind the settling
  bool has_drifted_ = false;         // in the window before this one
};

}  // namespace tutti
