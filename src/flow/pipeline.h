#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "flow/stage_loops.h"

namespace tutti {

struct PipelineOptions {
  const Clock* clock = &Clock::real();                     ///< outlives the pipeline
  VirtualSpeedup* speedup = VirtualSpeedup::of_process();  ///< an experiment; outlives it; nullptr: none
  Failures::OnSkip on_skip{};  ///< sees every skipped item, one at a time, on the thread of its stage
};

/// Stages joined by bounded channels, their threads, and what became of it all.
///
/// Stages are added before `start`; each takes the reading end it consumes and returns the one it feeds. Stage
/// functions with several threads are called by all of them at once. Stopping is closing: when the reader of a stage
/// goes, the stage ends at its next item and closes its own input, and so on up to the sources. A source that waits
/// inside its generator ends when that returns. Adding and joining belong to one thread; all else may be called from
/// any.
class Pipeline {
 public:
  explicit Pipeline(PipelineOptions options = {});
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  /// Stops what still runs and waits for it.
  ~Pipeline();

  /// Items from `std::optional<Result<Out>> generator()`, called by one thread until it yields nothing.
  template <class Fn, class Out = typename std::invoke_result_t<Fn&>::value_type::value_type>
  Reader<Out> source(const std::string& name, Fn generator, StageOptions options = {},
                     typename BoundedQueue<Out>::SizeOf size_of = {}) {
    options.threads = 1;
    auto [writer, reader] = make_channel<Out>(options.output, std::move(size_of));
    auto shared = std::make_shared<Fn>(std::move(generator));
    add({.name = name,
         .options = options,
         .is_source = true,
         .loop = [shared, out = std::move(writer)](Worker& me) { source_loop(me, *shared, out); },
         .output = level_of(reader),
         .set_queue = limit_of(reader)});
    return reader;
  }

  /// One item out for each one in: `Result<Out> fn(In&&)`.
  template <class In, class Fn, class Out = typename std::invoke_result_t<Fn&, In>::value_type>
  Reader<Out> map(const std::string& name, Reader<In>&& in, Fn fn, StageOptions options = {},
                  typename BoundedQueue<Out>::SizeOf size_of = {}) {
    auto one = [fn = std::move(fn)](In&& item, const Emit<Out>& emit) mutable -> Result<void> {
      Result<Out> made = std::invoke(fn, std::move(item));
      if (!made) return tl::unexpected<Error>(std::move(made.error()));
      emit(std::move(*made));
      return {};
    };
    return flat_map<Out>(name, std::move(in), std::move(one), options, std::move(size_of));
  }

  /// Any number out for each one in: `Result<void> fn(In&&, const Emit<Out>&)`.
  template <class Out, class In, class Fn>
  Reader<Out> flat_map(const std::string& name, Reader<In>&& in, Fn fn, StageOptions options = {},
                       typename BoundedQueue<Out>::SizeOf size_of = {}) {
    auto [writer, reader] = make_channel<Out>(options.output, std::move(size_of));
    auto shared = std::make_shared<Fn>(std::move(fn));
    close_on_stop(in);
    auto nudge = nudge_of(in);
    add({.name = name,
         .options = options,
         .loop = [shared, from = std::move(in), out = StageOutput<Out>(std::move(writer), options)](
                     Worker& me) { flat_map_loop(me, from, *shared, out); },
         .nudge_input = std::move(nudge),
         .output = level_of(reader),
         .set_queue = limit_of(reader)});
    return reader;
  }

  /// The end of the line: `Result<void> fn(In&&)`.
  template <class In, class Fn>
  void sink(const std::string& name, Reader<In>&& in, Fn fn, StageOptions options = {}) {
    auto shared = std::make_shared<Fn>(std::move(fn));
    close_on_stop(in);
    auto nudge = nudge_of(in);
    add({.name = name,
         .options = options,
         .loop = [shared, from = std::move(in)](Worker& me) { sink_loop(me, from, *shared); },
         .nudge_input = std::move(nudge)});
  }

  /// Starts all threads. Where the system refuses one, the pipeline stops and `join` yields the error.
  void start();
  /// Drops everything that waits between the stages; items in work are finished and dropped. Idempotent.
  void stop();
  /// Waits for all stages to end. Yields the first error that stopped the pipeline, or Fault::cancelled after `stop`.
  /// The last stage's output, if it has one, must be read to its end or closed for that.
  Result<void> join();
  Result<void> run();

  /// Changes the threads of a running stage; surplus ones finish their item first. Fault::usage for a name or number
  /// that cannot be intended.
  Result<void> set_threads(std::string_view stage, int threads);

  /// Changes how many items may wait behind a stage; what waits stays, and the items' order. Fault::usage for a name or
  /// number that cannot be intended.
  Result<void> set_queue(std::string_view stage, std::size_t items);

  PipelineReport report() const;

 private:
  struct Lifetime {
    std::optional<Clock::Instant> started;
    std::optional<Clock::Instant> ended;
  };

  template <class T>
  static std::function<void()> nudge_of(const Reader<T>& reader) {
    return [queue = reader.watch()] {
      if (auto open = queue.lock()) open->nudge();
    };
  }
  template <class T>
  std::function<QueueLevel()> level_of(const Reader<T>& reader) {
    close_on_stop(reader);
    return [queue = reader.watch()] {
      const auto open = queue.lock();
      return open ? open->level() : QueueLevel{};
    };
  }
  template <class T>
  static std::function<void(std::size_t)> limit_of(const Reader<T>& reader) {
    return [queue = reader.watch()](std::size_t items) {
      if (auto open = queue.lock()) open->set_items(items);
    };
  }
  template <class T>
  void close_on_stop(const Reader<T>& reader) {
    inputs_to_close_.push_back([queue = reader.watch()] {
      if (auto open = queue.lock()) open->abandon();
    });
  }
  void add(Stage::Plan plan);
  Result<Stage*> stage_called(std::string_view name) const;
  void close_all() const;

  const Clock& clock_;
  VirtualSpeedup* const speedup_;
  std::vector<std::function<void()>> inputs_to_close_;  // fixed once started
  Failures failures_;
  std::atomic<bool> is_cancelled_ = false;
  Guarded<Lifetime> lifetime_;
  std::vector<std::unique_ptr<Stage>> stages_;
};

}  // namespace tutti
