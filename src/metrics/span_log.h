#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"

namespace tutti {

/// Something that took time: a window's encoding, a file's decoding.
struct Span {
  std::string name;
  Clock::Instant start{};
  Clock::Instant end{};
};

/// The latest spans of a process, bounded: the oldest makes room. Thread-safe. One span costs two clock readings and a
/// short lock at its end; it is for pieces of work, not for inner loops.
class SpanLog {
 public:
  /// Runs from its making to its end of life.
  class Running {
   public:
    Running(SpanLog& log, std::string name) : log_(log), span_{std::move(name), log.clock_->now(), {}} {}
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running();

   private:
    SpanLog& log_;
    Span span_;
  };

  explicit SpanLog(std::size_t capacity, const Clock& clock = Clock::real()) : clock_(&clock), capacity_(capacity) {}

  /// `const auto span = log.run("encode");`
  [[nodiscard]] Running run(std::string name) { return {*this, std::move(name)}; }
  /// A span measured elsewhere.
  void add(Span span);
  /// In the order they ended.
  std::vector<Span> snapshot() const;

 private:
  const Clock* clock_;
  const std::size_t capacity_;
  Guarded<std::deque<Span>> spans_;
};

}  // namespace tutti
