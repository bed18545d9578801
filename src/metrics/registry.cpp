#include "metrics/registry.h"

#include <algorithm>
#include <stdexcept>

namespace tutti {
namespace {

bool is_name(const std::string& name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':';
  };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::variant<std::uint64_t, double, HistogramSnapshot> value_of(const auto& owned) {
  using Value = std::variant<std::uint64_t, double, HistogramSnapshot>;
  struct Read {
    Value operator()(const std::unique_ptr<Counter>& counter) const { return counter->value(); }
    Value operator()(const std::unique_ptr<Gauge>& gauge) const { return gauge->value(); }
    Value operator()(const std::unique_ptr<Histogram>& histogram) const { return histogram->snapshot(); }
  };
  return std::visit(Read{}, owned);
}

}  // namespace

template <class Metric>
Metric& Registry::get(MetricId id, std::string help) {
  if (!is_name(id.name)) throw std::invalid_argument("'" + id.name + "' cannot be the name of a metric");
  std::sort(id.labels.begin(), id.labels.end());
  return entries_.with([&](Entries& entries) -> Metric& {
    // All of one name are of one kind; they lie side by side.
    const auto kin = entries.lower_bound(MetricId{id.name});
    if (kin != entries.end() && kin->first.name == id.name &&
        !std::holds_alternative<std::unique_ptr<Metric>>(kin->second.metric))
      throw std::logic_error("metric '" + id.name + "' is already of another kind");
    auto [at, is_new] = entries.try_emplace(std::move(id));
    if (is_new) at->second = {std::move(help), std::make_unique<Metric>()};
    return *std::get<std::unique_ptr<Metric>>(at->second.metric);
  });
}

template Counter& Registry::get(MetricId, std::string);
template Gauge& Registry::get(MetricId, std::string);
template Histogram& Registry::get(MetricId, std::string);

std::vector<MetricSnapshot> Registry::snapshot() const {
  return entries_.with([](const Entries& entries) {
    std::vector<MetricSnapshot> all;
    all.reserve(entries.size());
    for (const auto& [id, entry] : entries) all.push_back({id, entry.help, value_of(entry.metric)});
    return all;
  });
}

}  // namespace tutti
