#include "balance/admission.h"

#include <algorithm>

#include "base/numbers.h"

namespace tutti {
namespace {

/// Limits of this machine; a job that is in work has passed them.
std::optional<Limit> refused_by_host(const Scene& scene, const QueuedJob& job) {
  if (job.started) return {};
  const auto in_work = static_cast<int>(scene.queue.in_work());
  const DispatcherOptions& options = scene.options;
  if (options.jobs_at_once > 0 && in_work >= options.jobs_at_once) return Limit::jobs_at_once;
  if (in_work == 0) return {};  // what is too large beside others runs alone
  if (scene.host_short) return Limit::host_memory;
  return {};
}

bool another_to_try(const Scene& scene, const QueuedJob& job) {
  for (DeviceIndex i = 0; i < scene.devices.size(); ++i)
    if (scene.devices[i].health().in_service() && !job.avoids(i)) return true;
  return false;
}

}  // namespace

int capacity_of(const Scene& scene, const DeviceRecord& record) {
  return scene.little_left ? record.slots() : record.useful();
}

std::optional<Limit> refused(const Scene& scene, DeviceIndex device, const QueuedJob& job) {
  const DeviceRecord& record = scene.devices[device];
  if (!record.health().in_service()) return Limit::not_in_service;
  if (record.runs_alone() || (scene.clearing == device && !job.risky())) return Limit::kept_for_another;
  if (job.avoids(device) && another_to_try(scene, job)) return Limit::failed_there;
  if (const auto limit = refused_by_host(scene, job)) return limit;
  if (scene.options.policy == Policy::note_raw) return {};
  const auto cap = record.facts().job_cap;
  if (cap && record.jobs() >= *cap && !record.has_job(job.id)) return Limit::job_cap;
  if (!record.holds_one_more(scene.options)) return Limit::device_memory;
  if (record.pieces() >= capacity_of(scene, record)) return Limit::slots;
  return {};
}

Idle idle_of(Limit limit, const DeviceRecord& device) {
  switch (limit) {
    case Limit::device_memory:
    case Limit::host_memory: return Idle::memory;
    case Limit::slots:
    case Limit::job_cap:
    case Limit::jobs_at_once: return Idle::cap;
    case Limit::failed_there:
    case Limit::kept_for_another: return Idle::fault;
    case Limit::not_in_service: break;
  }
  switch (device.health().state()) {
    case DeviceState::starting: return device.health().starts_again() ? Idle::fault : Idle::starting;
    case DeviceState::draining: return Idle::drained;
    default: return Idle::fault;
  }
}

std::string words(Limit limit, const Scene& scene, DeviceIndex device) {
  const DeviceRecord& record = scene.devices[device];
  const auto number = [](auto value) { return std::to_string(value); };
  switch (limit) {
    case Limit::not_in_service:
      return std::string(name_of(record.health().state())) +
             (record.health().reason().empty() ? "" : ": " + record.health().reason());
    case Limit::slots:
      return number(record.pieces()) + " of " + number(capacity_of(scene, record)) + " slots are taken";
    case Limit::job_cap: return number(record.jobs()) + " of " + number(*record.facts().job_cap) + " jobs, its cap";
    case Limit::jobs_at_once:
      return number(scene.queue.in_work()) + " of " + number(scene.options.jobs_at_once) + " jobs are in work";
    case Limit::host_memory: return *scene.host_short;
    case Limit::device_memory:
      return "needs " + gigabytes_text(record.facts().piece_memory) + " of memory; " +
             gigabytes_text(*record.free_memory(scene.options)) + " are free";
    case Limit::failed_there: return "its worker was lost with this job";
    case Limit::kept_for_another: return "kept free for one that lost its worker";
  }
  return {};
}

}  // namespace tutti
