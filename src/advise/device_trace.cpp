#include "advise/device_trace.h"

#include <algorithm>

namespace tutti {
namespace {

constexpr double kMuch = 0.2;  // share of the span that is worth a finding before others
constexpr double kMost = 0.5;  // of the host wait, to be its cause

/// What of [start, end) goes beyond `until`, which becomes the end where that is later.
Nanoseconds beyond(Nanoseconds& until, Nanoseconds start, Nanoseconds end) {
  const Nanoseconds added = std::max<Nanoseconds>(0, end - std::max(start, until));
  until = std::max(until, end);
  return added;
}

Nanoseconds& part_of(IdleSplit& idle, const DeviceWork& work, Nanoseconds since, Nanoseconds kernel_gap) {
  if (!work.launched) return idle.other;
  if (*work.launched > since) return idle.host_wait;
  return work.start - since < kernel_gap ? idle.kernel_wait : idle.other;
}

struct Advice {
  const char* cause;
  const char* change;
};

Advice advice_of(TraceLimit limit, const DeviceTrace& trace) {
  const auto is_most = [&](Nanoseconds part) {
    return static_cast<double>(part) >= kMost * static_cast<double>(trace.idle.host_wait);
  };
  switch (limit) {
    case TraceLimit::host_wait:
      if (is_most(trace.data_loading))
        return {"data loading",
                "Give the DataLoader more workers (num_workers, persistent_workers, prefetch_factor), or make samples "
                "cheaper: a packed set, features on the device"};
      if (is_most(trace.synchronising))
        return {"synchronisation",
                "Leave out what waits for the device in every step: .item(), .cpu(), print(loss), "
                "torch.cuda.synchronize()"};
      return {
          "launch thread",
          "Give each launch more to do or launch less: a larger batch, torch.compile, CUDA graphs, a fused optimiser"};
    case TraceLimit::kernel_wait:
      return {"launch gaps", "Launch fewer and longer kernels: CUDA graphs, torch.compile, a fused optimiser"};
    case TraceLimit::other:
      return {"waits between streams",
              "Look for events that streams wait for, copies from memory that is not pinned, and kernels queued behind "
              "another process"};
    case TraceLimit::communication:
      return {
          "communication",
          "Let it overlap with the backward pass (DistributedDataParallel's buckets), accumulate gradients over more "
          "steps, or look at the slowest rank, which the others wait for"};
    case TraceLimit::copying:
      return {"copy to the device",
              "Pin the host's memory (pin_memory) and copy with non_blocking=True, on a stream of its own"};
    case TraceLimit::device: break;
  }
  return {"device compute", "Make the device's work cheaper: bfloat16, fused kernels, a faster device"};
}

}  // namespace

std::optional<HostSpan> DeviceTimeline::add(const DeviceWork& work) {
  const Nanoseconds end = std::max(work.start, work.end);
  std::optional<HostSpan> host_wait;
  if (trace_.works++ == 0) first_ = all_ = own_ = compute_ = work.start;
  if (work.start > all_) {
    Nanoseconds& part = part_of(trace_.idle, work, all_, kernel_gap_);
    part += work.start - all_;
    if (&part == &trace_.idle.host_wait) host_wait = {all_, std::min(work.start, *work.launched)};
  }
  const auto [stream, is_new] = streams_.try_emplace(work.stream, work.start);
  IdleSplit& own_idle = trace_.streams[work.stream];
  if (work.start > stream->second) part_of(own_idle, work, stream->second, kernel_gap_) += work.start - stream->second;
  stream->second = std::max(stream->second, end);

  const Nanoseconds busy = beyond(all_, work.start, end);
  trace_.busy += busy;
  trace_.span = all_ - first_;
  if (work.kind != DeviceWorkKind::communication) own_time_ += beyond(own_, work.start, end);
  if (work.kind == DeviceWorkKind::compute) compute_time_ += beyond(compute_, work.start, end);
  trace_.communication = trace_.busy - own_time_;
  trace_.copying = own_time_ - compute_time_;
  return host_wait;
}

void DeviceTimeline::explain(HostWork work, Nanoseconds part) {
  (work == HostWork::data_loading ? trace_.data_loading : trace_.synchronising) += part;
}

std::string_view name_of(TraceLimit limit) {
  switch (limit) {
    case TraceLimit::communication: return "communication";
    case TraceLimit::copying: return "copying";
    case TraceLimit::host_wait: return "host_wait";
    case TraceLimit::kernel_wait: return "kernel_wait";
    case TraceLimit::other: return "other";
    case TraceLimit::device: break;
  }
  return "device";
}

TraceFinding finding_of(const DeviceTrace& trace) {
  if (trace.span <= 0) return {};
  const auto share = [&](Nanoseconds part) { return static_cast<double>(part) / static_cast<double>(trace.span); };
  TraceFinding found{.limit = TraceLimit::device, .share = share(trace.busy)};
  const auto choose = [&](TraceLimit limit, Nanoseconds part) {
    if (found.limit != TraceLimit::device && share(part) <= found.share) return;
    found = {.limit = limit, .share = share(part)};
    found.gain = found.share < 1 ? 1 / (1 - found.share) - 1 : 0;
  };
  if (share(trace.idle.all()) >= kMuch) {
    choose(TraceLimit::host_wait, trace.idle.host_wait);
    choose(TraceLimit::kernel_wait, trace.idle.kernel_wait);
    choose(TraceLimit::other, trace.idle.other);
  }
  if (share(trace.communication) >= kMuch) choose(TraceLimit::communication, trace.communication);
  if (share(trace.copying) >= kMuch) choose(TraceLimit::copying, trace.copying);
  const Advice advice = advice_of(found.limit, trace);
  found.cause = advice.cause;
  found.change = advice.change;
  return found;
}

}  // namespace tutti
