#include "balance/admission.h"

#include <algorithm>

#include "base/numbers.h"

namespace tutti {
namespace {

/// Limits of this machine; a task that is in work has passed them.
std::optional<Limit> refused_by_host(const Scene& scene, const QueuedTask& task) {
  if (task.started) return {};
  const auto in_work = static_cast<int>(scene.queue.in_work());
  const DispatcherOptions& options = scene.options;
  if (options.tasks_at_once > 0 && in_work >= options.tasks_at_once) return Limit::tasks_at_once;
  if (in_work == 0) return {};  // what is too large beside others runs alone
  if (scene.host_short) return Limit::host_memory;
  return {};
}

bool another_to_try(const Scene& scene, const QueuedTask& task) {
  for (DeviceIndex i = 0; i < scene.devices.size(); ++i)
    if (scene.devices[i].health().in_service() && !task.avoids(i)) return true;
  return false;
}

}  // namespace

int places_of(const Scene& scene, const DeviceBook& book) {
  return scene.little_left ? book.slots() : book.useful();
}

std::optional<Limit> refused(const Scene& scene, DeviceIndex device, const QueuedTask& task) {
  const DeviceBook& book = scene.devices[device];
  if (!book.health().in_service()) return Limit::not_in_service;
  if (book.runs_alone() || (scene.clearing == device && !task.risky())) return Limit::kept_for_another;
  if (task.avoids(device) && another_to_try(scene, task)) return Limit::failed_there;
  if (const auto limit = refused_by_host(scene, task)) return limit;
  if (scene.options.policy == Policy::note_raw) return {};
  const auto cap = book.facts().task_cap;
  if (cap && book.tasks() >= *cap && !book.has_task(task.id)) return Limit::task_cap;
  if (!book.holds_one_more(scene.options)) return Limit::device_memory;
  if (book.pieces() >= places_of(scene, book)) return Limit::slots;
  return {};
}

Idle idle_of(Limit limit, const DeviceBook& device) {
  switch (limit) {
    case Limit::device_memory:
    case Limit::host_memory: return Idle::memory;
    case Limit::slots:
    case Limit::task_cap:
    case Limit::tasks_at_once: return Idle::cap;
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
  const DeviceBook& book = scene.devices[device];
  const auto number = [](auto value) { return std::to_string(value); };
  switch (limit) {
    case Limit::not_in_service:
      return std::string(name_of(book.health().state())) +
             (book.health().reason().empty() ? "" : ": " + book.health().reason());
    case Limit::slots: return number(book.pieces()) + " of " + number(places_of(scene, book)) + " places are taken";
    case Limit::task_cap: return number(book.tasks()) + " of " + number(*book.facts().task_cap) + " tasks, its cap";
    case Limit::tasks_at_once:
      return number(scene.queue.in_work()) + " of " + number(scene.options.tasks_at_once) + " tasks are in work";
    case Limit::host_memory: return *scene.host_short;
    case Limit::device_memory:
      return "needs " + gigabytes_text(book.facts().piece_memory) + " of memory; " +
             gigabytes_text(*book.free_memory(scene.options)) + " are free";
    case Limit::failed_there: return "its worker was lost with this task";
    case Limit::kept_for_another: return "kept free for one that lost its worker";
  }
  return {};
}

}  // namespace tutti
