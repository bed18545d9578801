#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "flow/bounded_queue.h"

namespace tutti {

template <class T>
struct Channel;

/// The two ends of a bounded queue. Stopping needs no flag: closing an end is enough. `size_of` is needed where
/// `limits.bytes` is set.
template <class T>
Channel<T> make_channel(QueueLimits limits, typename BoundedQueue<T>::SizeOf size_of = {});

/// The writing end of a channel. Copies share the end; when the last one goes, readers drain what is left and then see
/// the end. An empty (default or moved-from) Writer refuses every item. Thread-safe as a copy per thread.
template <class T>
class Writer {
 public:
  Writer() = default;

  /// Waits for space. False, with `item` untouched: there is no reader any more.
  [[nodiscard]] bool push(T&& item) const { return end_ && end_->push(std::move(item)); }

  /// The queue, for code that watches or stops it: not an end, so it keeps nothing open.
  std::weak_ptr<BoundedQueue<T>> watch() const {
    return end_ ? end_->weak_from_this() : std::weak_ptr<BoundedQueue<T>>();
  }

 private:
  friend Channel<T> make_channel<T>(QueueLimits, typename BoundedQueue<T>::SizeOf);
  explicit Writer(std::shared_ptr<BoundedQueue<T>> end) : end_(std::move(end)) {}

  std::shared_ptr<BoundedQueue<T>> end_;
};

/// The reading end of a channel. Copies share the end and compete for items; when the last one goes, writers are
/// refused and what waited is destroyed. An empty Reader is exhausted. Thread-safe as a copy per thread.
template <class T>
class Reader {
 public:
  using Item = T;

  Reader() = default;

  /// Waits for an item. Empty: every writer has gone and all is read.
  [[nodiscard]] std::optional<T> pop() const { return end_ ? end_->pop() : std::nullopt; }

  /// See BoundedQueue::pop_unless.
  template <class Leave, class Taken>
  [[nodiscard]] std::optional<T> pop_unless(Leave leave, Taken taken) const {
    return end_ ? end_->pop_unless(leave, taken) : std::nullopt;
  }
  bool is_exhausted() const { return !end_ || end_->is_exhausted(); }

  /// The queue, for code that watches or stops it: not an end, so it keeps nothing open.
  std::weak_ptr<BoundedQueue<T>> watch() const {
    return end_ ? end_->weak_from_this() : std::weak_ptr<BoundedQueue<T>>();
  }

 private:
  friend Channel<T> make_channel<T>(QueueLimits, typename BoundedQueue<T>::SizeOf);
  explicit Reader(std::shared_ptr<BoundedQueue<T>> end) : end_(std::move(end)) {}

  std::shared_ptr<BoundedQueue<T>> end_;
};

template <class T>
struct Channel {
  Writer<T> writer;
  Reader<T> reader;
};

template <class T>
Channel<T> make_channel(QueueLimits limits, typename BoundedQueue<T>::SizeOf size_of) {
  using Queue = BoundedQueue<T>;
  auto queue = std::make_shared<Queue>(limits, std::move(size_of));
  return {Writer<T>(std::shared_ptr<Queue>(queue.get(), [queue](Queue*) { queue->close(); })),
          Reader<T>(std::shared_ptr<Queue>(queue.get(), [queue](Queue*) { queue->abandon(); }))};
}

}  // namespace tutti
