#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/units.h"
#include "feed/batch.h"
#include "metrics/histogram.h"
#include "metrics/phase_times.h"
#include "metrics/work_span.h"

namespace tutti {

/// A device as the ring sees it: memory for so many batches, and copies that run beside the device's own work. On a GPU
/// that is a copy stream and two events a slot; nothing here makes the host wait for the device's work.
class RingDevice {
 public:
  virtual ~RingDevice() = default;

  /// Begins to copy `batch` to `slot`'s memory, on the device after everything enqueued before `release(slot)`. May
  /// wait for the slot's earlier copy (long done), never for a step. `batch` stays where it is until the slot's next
  /// transfer or the ring's end. Called by the ring's thread.
  virtual Result<void> begin_transfer(std::size_t slot, const Batch& batch) = 0;
  /// What is enqueued from now on runs after the slot's copy. Enqueues only. Called by the consumer.
  virtual void use(std::size_t slot) = 0;
  /// The last work that reads the slot has been enqueued. Enqueues only. Called by the consumer.
  virtual void release(std::size_t slot) = 0;
};

struct RingOptions {
  int depth = 3;       ///< batches on the device or on their way to it, the one in use included
  int most_depth = 3;  ///< slots the device has memory for; more than `depth`: the ring deepens itself where stalls pay
  int known_depth = 0;  ///< of a ring like it before: it deepens itself so far once batches are known to fit; 0: none
  std::function<int()> fitting{};  ///< slots there is memory for, by the batches so far; empty: `most_depth`
  int most_behind = 0;  ///< batches more that may wait behind `fetch` where the slots are not enough for the stalls
  std::function<void(int)> wait_behind{};  ///< has so many more wait there; called by the consumer's thread
  const Clock* clock = &Clock::real();     ///< outlives the ring
};

/// What the ring has seen so far, or since an earlier report. Plain data.
struct RingReport {
  int depth = 0;
  int behind = 0;             ///< batches more that may wait behind the fetching than at the start
  int ready = 0;              ///< batches that wait for the consumer at this moment
  std::int64_t batches = 0;   ///< handed to the consumer
  Seconds stepping{};         ///< between a batch handed out and the next request
  Seconds waiting{};          ///< for batches: time the device had nothing to do, but for what was enqueued before
  Seconds fetching{};         ///< time of the ring's thread in `fetch`, where it may wait for a feed
  Seconds transferring{};     ///< time of the ring's thread in RingDevice::begin_transfer
  HistogramSnapshot waits{};  ///< seconds, per batch
  HistogramSnapshot
      preparing{};  ///< seconds, per batch: of begin_transfer what made it ready, where its owner measures that
  HistogramSnapshot copying{};  ///< likewise: what began its copy
  std::int64_t spikes = 0;      ///< waits of more than 50 ms

  /// MLPerf Storage's definition: time in steps over all time.
  double utilisation() const {
    const double all = (stepping + waiting).count();
    return all > 0 ? stepping.count() / all : 0;
  }
  RingReport since(const RingReport& before) const;

  /// What the ring's thread did in `elapsed`: it begins transfers; where `gathers`, it also makes the batches itself.
  PhaseTimes producer(bool gathers, Seconds elapsed) const;
  /// The filled share of the ring, 0 to 1.
  double fill() const { return depth > 0 ? std::clamp(static_cast<double>(ready) / depth, 0.0, 1.0) : 0; }
};

/// What was done for a batch, or for several, and when.
struct BatchTimes {
  WorkSpan fetching{};      ///< by the ring's thread, in `fetch`
  WorkSpan transferring{};  ///< likewise, in RingDevice::begin_transfer
  WorkSpan held_up{};       ///< Batch::held_up
  int depth = 0;            ///< that the ring had when it was handed out, with the queue behind it
  StageWork feed{};         ///< Batch::made_by

  BatchTimes& operator+=(const BatchTimes& more) {
    fetching += more.fetching;
    transferring += more.transferring;
    held_up += more.held_up;
    depth = std::max(depth, more.depth);
    feed += more.feed;
    return *this;
  }
};

/// Keeps the next batches on a device, or on their way there, while it works on one: the last stage of the feed. One
/// thread of its own fetches and transfers. `next` and the batches it gives belong to one thread, which never waits
/// for the device here.
class DeviceRing {
 public:
  using Fetch = std::function<Result<std::optional<Batch>>()>;

  /// A batch in its slot. Destroying it, or moving another into it, releases the slot: by then everything that
  /// reads the slot is enqueued.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept { *this = std::move(other); }
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() { release(); }

    std::size_t index() const { return index_; }
    const Batch& batch() const { return *batch_; }
    const BatchTimes& times() const { return times_; }

   private:
    friend class DeviceRing;
    void release();

    std::shared_ptr<struct RingParts> ring_{};
    std::shared_ptr<const Batch> batch_{};
    std::size_t index_ = 0;
    BatchTimes times_{};
  };

  /// `fetch` (Feed::next, say) is called by the ring's thread alone; both it and `device` outlive the ring.
  DeviceRing(Fetch fetch, RingDevice& device, const RingOptions& options = {});
  DeviceRing(const DeviceRing&) = delete;
  DeviceRing& operator=(const DeviceRing&) = delete;
  /// Waits for the fetch in work. Slots must have been released.
  ~DeviceRing();

  /// The oldest batch; waits for one. None after the last; then, or where fetching failed, always the same answer.
  Result<std::optional<Slot>> next();
  /// What was done since the last batch was handed out (an evaluation, a checkpoint) was none of its step, which begins
  /// now. The consumer's.
  void go_on();
  RingReport report() const;

 private:
  std::shared_ptr<RingParts> parts_;
};

}  // namespace tutti
