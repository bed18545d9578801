#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/guarded.h"
#include "metrics/histogram.h"

namespace tutti {

/// A number that only grows. Adding is one relaxed atomic operation.
class Counter {
 public:
  void add(std::uint64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// A number that goes up and down. Setting is one relaxed atomic operation.
class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double by) { value_.fetch_add(by, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_ = 0;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

/// What tells metrics apart: {.name = "tutti_windows_total", .labels = {{"device", uuid}}}.
struct MetricId {
  std::string name;  ///< letters, digits, _ and :, as Prometheus has it
  Labels labels{};   ///< in any order

  auto operator<=>(const MetricId&) const = default;
};

/// One metric at one moment: a counter's count, a gauge's value or a histogram.
struct MetricSnapshot {
  MetricId id;
  std::string help;
  std::variant<std::uint64_t, double, HistogramSnapshot> value;
};

/// The metrics of one process or one job. Thread-safe: look a metric up once and keep the reference, which stays good
/// as long as the registry; looking up takes a lock, using does not.
class Registry {
 public:
  /// The metric of this id, made on first use; `help` of the first use stays. Throws std::invalid_argument for a name
  /// that cannot be one, std::logic_error where the name is already used for another kind.
  Counter& counter(MetricId id, std::string help) { return get<Counter>(std::move(id), std::move(help)); }
  Gauge& gauge(MetricId id, std::string help) { return get<Gauge>(std::move(id), std::move(help)); }
  Histogram& histogram(MetricId id, std::string help) { return get<Histogram>(std::move(id), std::move(help)); }

  /// All metrics, ordered by name, then labels.
  std::vector<MetricSnapshot> snapshot() const;

 private:
  using Owned = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>>;
  struct Entry {
    std::string help;
    Owned metric;
  };
  using Entries = std::map<MetricId, Entry>;

  template <class Metric>
  Metric& get(MetricId id, std::string help);

  Guarded<Entries> entries_;
};

}  // namespace tutti
