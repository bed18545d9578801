#include "transcribe/service/service_control.h"

#include "transcribe/pool/pool_machine.h"

namespace tutti {
namespace {

/// Why none of the devices takes work until one of them is resumed; none: one does, or will again by itself.
std::optional<std::string> held_by_drain(const PoolView& view) {
  bool is_drained = false;
  for (const auto& device : view.devices) {
    const bool drains = device.state == name_of(DeviceState::draining);
    is_drained = is_drained || drains;
    const bool is_away = device.state == name_of(DeviceState::lost) ||
                         device.state == name_of(DeviceState::quarantined) || device.state == "failed";
    if (!drains && !is_away) return {};
  }
  if (!is_drained) return {};
  return "no device takes work: they are drained at an operator's request, until one is resumed";
}

}  // namespace

void cancel_request(RequestQueue& queue, const RequestQueue::Run& run) {
  if (queue.cancel(run)) run->request().listener->failed({Fault::cancelled, "the request was cancelled"});
}

FleetStatus RequestControl::status() const {
  const PoolView view = pool_.view();
  const SpeechLoad now = queue_.load();
  const auto shown = queue_.shown();
  FleetStatus status{.run = "tutti serve",
                     .state_folder = options_.state.string(),
                     .elapsed = view.elapsed,
                     .jobs = now.done + now.failed + now.cancelled + now.running + now.waiting,
                     .done = now.done,
                     .failed = now.failed,
                     .cancelled = now.cancelled,
                     .running = now.running,
                     .audio_done = now.audio_done};
  for (std::size_t i = 0; i < view.devices.size(); ++i) {
    auto device = device_status(view.devices[i], options_.pool.devices[i], view.elapsed);
    machine_.describe(i, view.devices[i].process, device);
    if (device.reason.empty()) device.reason = view.devices[i].refusal;
    status.devices.push_back(std::move(device));
  }
  const auto held = held_by_drain(view);
  status.held_up = held.value_or("");
  for (std::size_t i = 0; i < shown.size(); ++i) {
    JobStatus& job = status.in_work.emplace_back(shown[i]->status());
    if (held && job.device.empty()) {
      if (i < now.running) --status.running;
      job.waiting_for = *held;
    } else if (i >= now.running) {
      job.waiting_for = "its turn: " + std::to_string(now.running) + " are in work";
    }
  }
  return status;
}

std::optional<std::string> RequestControl::held() const {
  return held_by_drain(pool_.view());
}

std::vector<MetricSnapshot> RequestControl::metrics() const {
  const SpeechLoad now = queue_.load();
  const RequestTimes& times = queue_.times();
  const auto count = [](std::size_t value) { return static_cast<std::uint64_t>(value); };
  const auto ended = [&](const char* outcome, std::size_t value) {
    return MetricSnapshot{{"tutti_requests_total", {{"outcome", outcome}}}, "requests that have ended", count(value)};
  };
  return {{{"tutti_requests_running"}, "requests in work", static_cast<double>(now.running)},
          {{"tutti_requests_waiting"}, "requests that wait for their turn", static_cast<double>(now.waiting)},
          ended("done", now.done),
          ended("failed", now.failed),
          ended("cancelled", now.cancelled),
          {{"tutti_audio_seconds_total"},
           "audio that was transcribed",
           count(static_cast<std::size_t>(now.audio_done.count()))},
          {{"tutti_recordings_with_losses_total"}, "recordings of which audio was missing", count(now.with_losses)},
          {{"tutti_request_seconds"}, "from a request's arrival to its end", times.whole.snapshot()},
          {{"tutti_request_queue_seconds"}, "until it was begun", times.waiting.snapshot()},
          {{"tutti_request_encode_seconds"}, "of the devices' encoder", times.encoder.snapshot()},
          {{"tutti_request_decode_seconds"}, "of the devices' decoder", times.decoder.snapshot()}};
}

bool RequestControl::cancel(const std::string& id) {
  const auto run = queue_.find(id);
  if (run) run->request().listener->on_revoked();
  if (run) cancel_request(queue_, run);
  return run != nullptr;
}

}  // namespace tutti
