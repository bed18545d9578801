#include "traces/trace_collector.h"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>

#include "base/try.h"

namespace tutti {
namespace {

constexpr Bytes kMemory{std::int64_t{32} << 20};  // of each of the five sorts
constexpr std::size_t kMostStreams = 4096;

bool is_communication(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos;
}

bool is_synchronising(std::string_view name) {
  return name.find("Synchronize") != std::string_view::npos;
}

}  // namespace

/// Reads the host's spans of one process, and finds what part of a wait they are. Waits come in their order.
class TraceCollector::HostReader {
 public:
  HostReader(const SpilledSort<Host>& spans, std::int32_t process) : reader_(spans), process_(process) {
    while ((next_ = reader_.next()) && next_->process < process_) {
    }
  }

  void explain(DeviceTimeline& timeline, HostSpan wait) {
    while (next_ && next_->process == process_ && next_->span.start < wait.end) {
      HostSpan& until = open_[static_cast<std::size_t>(next_->work)];
      if (next_->span.start <= until.end && until.end > wait.start) {
        until.end = std::max(until.end, next_->span.end);  // the same stretch goes on
      } else {
        add(timeline, next_->work, wait);
        until = next_->span;
      }
      next_ = reader_.next();
    }
    for (const HostWork work : {HostWork::data_loading, HostWork::synchronising}) add(timeline, work, wait);
  }

  const std::optional<Error>& error() const { return reader_.error(); }

 private:
  /// Counts the open stretch once: what of it is in the wait goes away.
  void add(DeviceTimeline& timeline, HostWork work, HostSpan wait) {
    HostSpan& stretch = open_[static_cast<std::size_t>(work)];
    const Nanoseconds from = std::max(stretch.start, wait.start), to = std::min(stretch.end, wait.end);
    if (from >= to) return;
    timeline.explain(work, to - from);
    stretch.start = to;
  }

  SpilledSort<Host>::Reader reader_;
  std::int32_t process_;
  std::optional<Host> next_{};
  std::array<HostSpan, 2> open_{};
};

TraceCollector::TraceCollector(TraceOptions options)
    : options_(std::move(options)),
      launches_(kMemory),
      works_(kMemory),
      timeline_(kMemory),
      host_(kMemory),
      step_marks_(kMemory) {}

TraceCollector::Key TraceCollector::key_of(Origin origin) {
  return static_cast<Key>(origin.correlation) ^ (static_cast<Key>(origin.process) << 40);
}

Result<void> TraceCollector::add_launch(Origin origin, std::string_view name, HostSpan span) {
  const bool has_origin = origin.correlation >= 0;
  if (is_synchronising(name))
    if (auto added = host_.push({origin.process, HostWork::synchronising, span, !has_origin}); !added) return added;
  return !has_origin ? Result<void>() : launches_.push({key_of(origin), span.start});
}

Result<void> TraceCollector::add_work(Origin origin, std::int32_t device, std::string_view name, DeviceWork work) {
  times_.add(work.start);
  ByKey record;
  record.key = key_of(origin);
  record.start = work.start;
  record.end = work.end;
  record.name = std::hash<std::string_view>()(name);
  record.stream = work.stream;
  record.process = origin.process;
  record.device = device;
  record.kind =
      work.kind == DeviceWorkKind::compute && is_communication(name) ? DeviceWorkKind::communication : work.kind;
  record.has_launch = origin.correlation >= 0;
  return works_.push(record);
}

Result<void> TraceCollector::add_annotation(std::int32_t process, std::string_view name, HostSpan span) {
  if (name.starts_with("Optimizer.step#") && optimizer_.empty()) optimizer_ = name;
  bool is_first = true;
  const auto mark = [&](bool is_step, StepSource source) -> Result<void> {
    return is_step ? step_marks_.push({process, source, span, std::exchange(is_first, false)}) : Result<void>();
  };
  for (const auto& marked : {mark(!options_.step.empty() && name.starts_with(options_.step), StepSource::named),
                             mark(name.starts_with("ProfilerStep#"), StepSource::profiler),
                             mark(!optimizer_.empty() && name == optimizer_, StepSource::optimizer)})
    if (!marked) return marked;
  if (!name.starts_with("enumerate(DataLoader)#")) return {};
  return host_.push({process, HostWork::data_loading, span, is_first});
}

/// Gives each work the start of its launch.
Result<void> TraceCollector::join() {
  launches_.sort();
  works_.sort();
  SpilledSort<Launch>::Reader launches(launches_);
  SpilledSort<ByKey>::Reader works(works_);
  const auto next_launch = [&] {
    auto launch = launches.next();
    for (; launch && !range_.has({launch->at, launch->at}); launch = launches.next()) ++left_out_;
    return launch;
  };
  auto launch = next_launch();
  while (const auto work = works.next()) {
    if (!range_.has_work({work->start, work->end})) {
      ++left_out_;
      continue;
    }
    while (launch && launch->key < work->key) launch = next_launch();
    ByStart timed;
    static_cast<Work&>(timed) = *work;
    timed.has_launch = work->has_launch && launch && launch->key == work->key;
    if (timed.has_launch) timed.launched = launch->at;
    if (auto pushed = timeline_.push(timed); !pushed) return pushed;
  }
  while (launch) launch = next_launch();
  for (const auto* error : {&launches.error(), &works.error()})
    if (*error) return tl::unexpected(**error);
  return {};
}

/// Leaves out what of the host has lost its time.
Result<void> TraceCollector::drop_lost_hosts() {
  host_.sort();
  SpilledSort<Host>::Reader spans(host_);
  SpilledSort<Host> kept(kMemory);
  while (const auto host = spans.next()) {
    if (!range_.has(host->span))
      left_out_ += host->is_first;
    else if (auto pushed = kept.push(*host); !pushed)
      return pushed;
  }
  if (spans.error()) return tl::unexpected(*spans.error());
  kept.sort();
  host_ = std::move(kept);
  return {};
}

/// Counts the steps.
Result<void> TraceCollector::read_marks() {
  step_marks_.sort();
  SpilledSort<Mark>::Reader reader(step_marks_);
  while (const auto mark = reader.next()) {
    if (!range_.has(mark->span)) {
      left_out_ += mark->is_first;
      continue;
    }
    Marks& marks = marks_[{mark->process, mark->source}];
    if (marks.count++ == 0) marks.first = mark->span;
    marks.last = mark->span;
  }
  return reader.error() ? tl::unexpected(*reader.error()) : Result<void>();
}

Result<std::vector<TracedDevice>> TraceCollector::finish() {
  range_ = times_.range();
  TRY(join());
  launches_ = SpilledSort<Launch>(kMemory);
  works_ = SpilledSort<ByKey>(kMemory);
  for (const auto& done : {drop_lost_hosts(), read_marks()}) TRY(done);
  timeline_.sort();
  SpilledSort<ByStart>::Reader works(timeline_);
  std::vector<TracedDevice> devices;
  for (auto next = works.next(); next;) {
    auto device = TRY(analyse(works, next));
    devices.push_back(std::move(device));
  }
  if (works.error()) return tl::unexpected(*works.error());
  return devices;
}

/// Adds up the works of one device; `next`: the first of them, then the first of another device.
Result<TracedDevice> TraceCollector::analyse(SpilledSort<ByStart>::Reader& works, std::optional<ByStart>& next) {
  const auto owner = next->owner();
  DeviceTimeline timeline(options_.kernel_gap);
  HostReader host(host_, owner.first);
  std::map<std::int64_t, RepeatedSteps> streams;
  for (; next && next->owner() == owner; next = works.next()) {
    const Work& work = *next;
    const auto launched = work.has_launch ? std::optional(work.launched) : std::nullopt;
    if (const auto wait = timeline.add({work.start, work.end, launched, work.stream, work.kind}))
      host.explain(timeline, *wait);
    if (streams.size() < kMostStreams || streams.contains(work.stream)) streams[work.stream].add(work.name, work.start);
  }
  if (host.error()) return tl::unexpected(*host.error());
  TracedDevice device{.process = owner.first, .device = owner.second, .trace = timeline.trace()};
  count_steps(device, streams);
  return device;
}

void TraceCollector::count_steps(TracedDevice& device, const std::map<std::int64_t, RepeatedSteps>& streams) const {
  const auto sources =
      options_.step.empty() ? std::vector{StepSource::profiler, StepSource::optimizer} : std::vector{StepSource::named};
  for (const StepSource source : sources) {
    const auto found = marks_.find({device.process, source});
    if (found == marks_.end()) continue;
    const auto& [count, first, last] = found->second;
    const auto steps = static_cast<Nanoseconds>(count);
    device.step_source = source;
    device.steps.count = count;
    if (source == StepSource::profiler) device.steps.length = (last.end - first.start) / steps;
    if (source != StepSource::profiler && count > 1) device.steps.length = (last.end - first.end) / (steps - 1);
    return;
  }
  if (!options_.step.empty()) return;
  for (const auto& [stream, repeated] : streams) {
    const auto found = repeated.found();
    if (!found || found->length <= device.steps.length) continue;
    device.steps = *found;
    device.step_source = StepSource::pattern;
  }
}

}  // namespace tutti
