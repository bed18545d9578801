#include "train/batch_ring.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/field_names.h"
#include "base/log.h"
#include "base/try.h"
#include "model/cpu/compute_team.h"
#include "model/gpu/out_of_memory.h"
#include "train/device_copies.h"
#include "train/optimiser_step/step_memory.h"

namespace tutti {

/// The slots for prepared batches. The ring hands each to one thread at a time.
class BatchRing::Slots : public RingDevice {
 public:
  Slots(Task& task, std::size_t count)
      : task_(task), stage_(task.data_stage()), copies_(task.device(), stage_.device, count), rows_(count) {}

  /// By the ring's thread, before anything else.
  void enter() const {
    if (stage_.cores.threads > 0)
      use_cores(stage_.cores);
    else
      use_one_torch_thread();
    if (stage_.counts_apart) count_as_data_memory();
  }

  Result<void> begin_transfer(std::size_t slot, const Batch& batch) override {
    try {
      timed(preparing_, [&] { rows_[slot] = copies_.prepare([&] { return task_.prepare(batch); }); });
      note_size(rows_[slot]);
      timed(copying_, [&] { copy(slot); });
    } catch (const std::exception& error) {
      return tl::unexpected(failure_of(
          error, "batch " + std::to_string(batch.index) + " could not be prepared",
          "Go on with " + field("resume") + " and a smaller ring-depth or ring-megabytes, or with more memory"));
    }
    return {};
  }

  void use(std::size_t slot) override { copies_.wait(slot, rows_[slot].inputs); }
  // Memory on the device is kept by torch until what was enqueued before has run.
  void release(std::size_t) override {}

  TaskBatch taken(std::size_t slot) { return std::exchange(rows_[slot], {}); }
  /// Bytes of the largest batch so far; 0: there was none.
  std::int64_t largest() const { return largest_.load(std::memory_order_relaxed); }
  HistogramSnapshot preparing() const { return preparing_.snapshot(); }
  HistogramSnapshot copying() const { return copying_.snapshot(); }

 private:
  void note_size(const TaskBatch& rows) {
    std::int64_t bytes = 0;
    for (const at::Tensor& input : rows.inputs) bytes += static_cast<std::int64_t>(input.nbytes());
    largest_.store(std::max(bytes, largest()), std::memory_order_relaxed);
  }

  template <class Fn>
  static void timed(Histogram& seconds, Fn&& fn) {
    const auto begin = Clock::real().now();
    fn();
    seconds.record(Seconds(Clock::real().now() - begin).count());
  }

  /// Where the device has no memory for batches ahead, they stay in host memory, and the step copies its own.
  void copy(std::size_t slot) {
    auto& inputs = rows_[slot].inputs;
    if (is_full_) return copies_.keep_on_host(inputs);
    const auto before = inputs;
    try {
      copies_.begin(slot, inputs);
    } catch (const std::exception& problem) {  // on the device, or of the pinned memory on the way there
      if (!is_out_of_memory(problem)) throw;
      inputs = before;
      copies_.keep_on_host(inputs);
      is_full_ = true;
      log(Level::warning, "memory ran out: batches are copied to the device by the step that needs them from now on");
    }
  }

  Task& task_;
  DataStage stage_;
  DeviceCopies copies_;
  std::vector<TaskBatch> rows_;
  bool is_full_ = false;                   // the ring's thread's own
  std::atomic<std::int64_t> largest_ = 0;  // written by the ring's thread
  Histogram preparing_{}, copying_{};
};

RingOptions BatchRing::options_of(const BatchRingOptions& options, const Slots* slots) {
  const int held = std::max(options.in_step, 1);
  const int depth = std::max(options.depth, 1);
  RingOptions ring{.depth = depth + held,
                   .most_depth = std::max(options.most_depth, depth) + held,
                   .known_depth = options.known_depth > 0 ? options.known_depth + held : 0,
                   .most_behind = options.wait_behind ? options.most_behind : 0,
                   .wait_behind = options.wait_behind};
  if (slots && options.memory.value > 0)
    ring.fitting = [slots, memory = options.memory.value, most = ring.most_depth] {
      return static_cast<int>(std::min<std::int64_t>(most, memory / std::max<std::int64_t>(1, slots->largest())));
    };
  return ring;
}

/// Fetches as `next` does, on the cores of the task's data stage: the ring's thread calls nothing before it.
NextBatch BatchRing::entered(NextBatch next, const Slots& slots) {
  return [next = std::move(next), &slots, is_in = false]() mutable {
    if (!std::exchange(is_in, true)) slots.enter();
    return next();
  };
}

BatchRing::BatchRing(Task& task, NextBatch next, const BatchRingOptions& options)
    : in_step_(std::max(options.in_step, 1)),
      slots_(std::make_unique<Slots>(task, static_cast<std::size_t>(options_of(options, nullptr).most_depth))),
      ring_(entered(std::move(next), *slots_), *slots_, options_of(options, slots_.get())) {}

BatchRing::~BatchRing() = default;

RingReport BatchRing::report() const {
  RingReport report = ring_.report();
  report.depth -= in_step_;
  report.preparing = slots_->preparing();
  report.copying = slots_->copying();
  return report;
}

Result<std::optional<RingBatch>> BatchRing::next() {
  auto slot = TRY(ring_.next());
  if (!slot) return std::optional<RingBatch>();
  RingBatch batch;
  batch.rows = slots_->taken(slot->index());
  batch.epoch = slot->batch().epoch;
  batch.position = slot->batch().position;
  batch.slot = std::move(*slot);
  return std::optional<RingBatch>(std::move(batch));
}

}  // namespace tutti
