#include "metrics/span_log.h"

#include <utility>

namespace tutti {

SpanLog::Running::~Running() {
  span_.end = log_.clock_->now();
  log_.add(std::move(span_));
}

void SpanLog::add(Span span) {
  spans_.with([&](std::deque<Span>& spans) {
    spans.push_back(std::move(span));
    if (spans.size() > capacity_) spans.pop_front();
  });
}

std::vector<Span> SpanLog::snapshot() const {
  return spans_.with([](const std::deque<Span>& spans) { return std::vector<Span>(spans.begin(), spans.end()); });
}

}  // namespace tutti
