#include "balance/placement.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "balance/forecast.h"

namespace tutti {
namespace {

constexpr int kMostLooks = 64;            // jobs looked at for one device in one group
constexpr std::size_t kMostPlanned = 64;  // whole jobs planned together; with more, any order of the longest will do
constexpr double kHair = 1 + 1e-9;
constexpr double kNothing = 1e-3;  // seconds of audio: what rounding may leave of sums

using Groups = std::map<GroupKey, JobGroup>;
using Entry = JobGroup::Entry;

/// A piece found for a device. What is begun comes before what is not, then the order of the group.
struct Found {
  bool fresh = false;
  Entry entry{};
  auto operator<=>(const Found&) const = default;
};

/// The whole jobs of a group, longest first, and where each should go so that all of them end early.
struct TailPlan {
  struct Piece {
    double audio = 0;
    Found found{};
  };
  std::vector<Piece> pieces{};
  std::vector<DeviceIndex> device_of{};  // by piece
};

/// Decides one placement.
class Placer {
 public:
  explicit Placer(const Scene& scene) : scene_(scene), forecast_(scene) {}

  std::optional<Placement> risky() const;
  std::optional<Placement> next() const;
  std::vector<DeviceIndex> by_preference(double audio) const;

 private:
  bool by_finish() const { return scene_.options.policy == Policy::tutti; }
  const QueuedJob& job(const Entry& entry) const { return scene_.queue.at(entry.job); }
  double audio(const Entry& entry) const { return job(entry).ready.front().audio.count(); }
  bool admitted(DeviceIndex device, const Entry& entry) const { return !refused(scene_, device, job(entry)); }
  double note_score(DeviceIndex device) const;
  bool has_room(DeviceIndex device) const;
  /// Whether it may take the job now, as soon as something there is done, or once it has loaded its model.
  bool usable(DeviceIndex device, const QueuedJob& job) const;
  bool cap_opens(DeviceIndex device, const QueuedJob& job) const;

  bool open_to(const GroupKey& key, DeviceIndex device) const;
  std::optional<Found> find(const GroupKey& key, const JobGroup& group, DeviceIndex device) const;
  std::optional<Found> first_admitted(const JobGroup& group, DeviceIndex device) const;
  std::optional<Found> window(const JobGroup& group, DeviceIndex device) const;
  std::optional<Found> whole(const JobGroup& group, DeviceIndex device) const;
  std::optional<Found> longest_that_fits(const JobGroup& group, DeviceIndex device) const;
  bool few_left(const JobGroup& group) const;
  const TailPlan& plan(const JobGroup& group) const;
  std::optional<Found> planned(const JobGroup& group, DeviceIndex device) const;
  std::optional<Found> dealt_in_order(const JobGroup& group, DeviceIndex device) const;

  const Scene& scene_;
  Forecast forecast_;
  mutable std::map<const JobGroup*, TailPlan> plans_{};  // made when first needed
};

double Placer::note_score(DeviceIndex device) const {
  const DeviceRecord& record = scene_.devices[device];
  const double cap = record.facts().job_cap.value_or(kNoteCap);
  return 50 * record.jobs() / cap + 50 * record.utilisation();
}

/// Devices in service, the one that should take a piece first in front.
std::vector<DeviceIndex> Placer::by_preference(double audio) const {
  std::vector<std::tuple<double, DeviceIndex>> order;
  for (DeviceIndex i = 0; i < scene_.devices.size(); ++i) {
    if (!forecast_.in_service(i)) continue;
    double rank = scene_.devices[i].pieces();
    if (by_finish()) rank = forecast_.finish(i, audio);
    if (scene_.options.policy == Policy::note || scene_.options.policy == Policy::note_raw) rank = note_score(i);
    order.emplace_back(rank, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<DeviceIndex> devices;
  for (const auto& [rank, device] : order) devices.push_back(device);
  return devices;
}

/// A check that saves many: a full device takes no job, whichever it is.
bool Placer::has_room(DeviceIndex device) const {
  if (scene_.options.policy == Policy::note_raw) return true;
  const DeviceRecord& record = scene_.devices[device];
  return record.pieces() < capacity_of(scene_, record) && !record.runs_alone() && scene_.clearing != device;
}

bool Placer::usable(DeviceIndex device, const QueuedJob& job) const {
  if (!forecast_.in_service(device)) return forecast_.counted_on(device) && !job.avoids(device);
  const auto limit = refused(scene_, device, job);
  if (limit == Limit::job_cap) return cap_opens(device, job);
  return !limit || *limit == Limit::slots || (*limit == Limit::device_memory && scene_.devices[device].pieces() > 0);
}

/// Whether a job will end with what is in flight there, in no more time than a piece like the next one takes: worth
/// waiting for.
bool Placer::cap_opens(DeviceIndex device, const QueuedJob& job) const {
  const DeviceRecord& record = scene_.devices[device];
  if (job.ready.empty() || record.drain() > job.ready.front().audio / record.speed()) return false;
  return std::ranges::any_of(record.flights(), [&](const Flight& flight) {
    return !flight.canary && scene_.queue.at(flight.job).counted.count() < kNothing;
  });
}

/// A job dealt to a device is that device's, as long as it is in service.
bool Placer::open_to(const GroupKey& key, DeviceIndex device) const {
  if (key.dealt_to < 0 || static_cast<DeviceIndex>(key.dealt_to) == device) return true;
  return !forecast_.in_service(static_cast<DeviceIndex>(key.dealt_to));
}

std::optional<Placement> Placer::next() const {
  const Groups& groups = scene_.queue.groups();
  for (auto level = groups.begin(); level != groups.end();) {
    const auto end =
        std::find_if(level, groups.end(), [&](const auto& it) { return it.first.rank != level->first.rank; });
    const JobGroup& first = level->second;
    const Entry& entry = first.started.empty() ? *first.fresh.begin() : *first.started.begin();
    for (const DeviceIndex device : by_preference(audio(entry))) {
      if (!has_room(device)) continue;
      std::optional<Found> best;
      for (auto at = level; at != end; ++at) {
        if (!open_to(at->first, device)) continue;
        const auto found = find(at->first, at->second, device);
        if (found && (!best || *found < *best)) best = found;
      }
      if (best) return Placement{.job = best->entry.job, .device = device};
    }
    level = end;
  }
  return {};
}

std::optional<Found> Placer::find(const GroupKey& key, const JobGroup& group, DeviceIndex device) const {
  if (!by_finish()) return first_admitted(group, device);
  if (key.kind != JobClass::batch && key.whole) return dealt_in_order(group, device);
  if (key.kind == JobClass::interactive) return dealt_in_order(group, device);
  return key.whole ? whole(group, device) : window(group, device);
}

std::optional<Found> Placer::first_admitted(const JobGroup& group, DeviceIndex device) const {
  for (const bool fresh : {false, true}) {
    int looks = 0;
    for (const Entry& entry : fresh ? group.fresh : group.started) {
      if (admitted(device, entry)) return Found{fresh, entry};
      if (++looks == kMostLooks) break;
    }
  }
  return {};
}

/// The first window, unless it would end here after everything else, and sooner elsewhere.
std::optional<Found> Placer::window(const JobGroup& group, DeviceIndex device) const {
  const auto found = first_admitted(group, device);
  if (!found) return {};
  const QueuedJob& it = job(found->entry);
  const double length = audio(found->entry);
  const double here = forecast_.finish(device, length);
  if (here <= forecast_.end() * kHair) return found;
  for (DeviceIndex i = 0; i < scene_.devices.size(); ++i)
    if (forecast_.counted_on(i) && forecast_.finish(i, length) * kHair < here && usable(i, it)) return {};
  return found;
}

/// A whole job of a batch: as the plan has it while there are few, else the longest one that leaves no tail.
std::optional<Found> Placer::whole(const JobGroup& group, DeviceIndex device) const {
  if (few_left(group)) return planned(group, device);
  const auto found = longest_that_fits(group, device);
  return found ? found : dealt_in_order(group, device);
}

std::optional<Found> Placer::longest_that_fits(const JobGroup& group, DeviceIndex device) const {
  const double longest = forecast_.longest_by_end(device);
  for (const bool fresh : {false, true}) {
    const auto& list = fresh ? group.fresh : group.started;
    int looks = 0;
    for (auto at = list.lower_bound(Entry{.first = -longest}); at != list.end() && looks < kMostLooks; ++at, ++looks)
      if (admitted(device, *at)) return Found{fresh, *at};
  }
  return {};
}

/// All that is left can start, and is so little that it can be planned together.
bool Placer::few_left(const JobGroup& group) const {
  return scene_.queue.audio_unready() < kNothing && group.started.size() + group.fresh.size() <= kMostPlanned;
}

const TailPlan& Placer::plan(const JobGroup& group) const {
  const auto [at, is_new] = plans_.try_emplace(&group);
  TailPlan& plan = at->second;
  if (!is_new) return plan;
  for (const bool fresh : {false, true})
    for (const Entry& entry : fresh ? group.fresh : group.started)
      plan.pieces.push_back({audio(entry), Found{fresh, entry}});
  std::stable_sort(plan.pieces.begin(), plan.pieces.end(),
                   [](const auto& a, const auto& b) { return a.audio > b.audio; });
  std::vector<double> lengths;
  for (const auto& it : plan.pieces) lengths.push_back(it.audio);
  const QueuedJob& first = job(group.started.empty() ? *group.fresh.begin() : *group.started.begin());
  std::vector<PlanDevice> devices;
  std::vector<DeviceIndex> indices;
  for (DeviceIndex i = 0; i < scene_.devices.size(); ++i) {
    if (!usable(i, first)) continue;
    indices.push_back(i);
    devices.push_back(forecast_.plan_of(i));
  }
  if (devices.empty()) return plan;
  for (const std::size_t device : plan_jobs(lengths, devices).device_of) plan.device_of.push_back(indices[device]);
  return plan;
}

/// The longest job that the plan has for the device.
std::optional<Found> Placer::planned(const JobGroup& group, DeviceIndex device) const {
  const TailPlan& tail = plan(group);
  if (tail.device_of.empty()) return first_admitted(group, device);
  for (std::size_t j = 0; j < tail.pieces.size(); ++j)
    if (tail.device_of[j] == device && admitted(device, tail.pieces[j].found.entry)) return tail.pieces[j].found;
  return {};
}

/// In the group's order, each to the device that would end it first, in thought; what falls to this device.
std::optional<Found> Placer::dealt_in_order(const JobGroup& group, DeviceIndex device) const {
  const QueuedJob& first = job(group.started.empty() ? *group.fresh.begin() : *group.started.begin());
  std::vector<DeviceIndex> usable_ones;  // for jobs that avoid no device, one is as good as another
  for (DeviceIndex i = 0; i < scene_.devices.size(); ++i)
    if (usable(i, first)) usable_ones.push_back(i);
  Forecast ahead = forecast_;
  int looks = 0;
  for (const bool fresh : {false, true})
    for (const Entry& entry : fresh ? group.fresh : group.started) {
      if (++looks > kMostLooks) return {};
      const QueuedJob& it = job(entry);
      std::optional<DeviceIndex> best;
      double soonest = std::numeric_limits<double>::infinity();
      for (const DeviceIndex i : usable_ones) {
        if (!it.avoid.empty() && !usable(i, it)) continue;
        const double finish = ahead.finish(i, audio(entry));
        if (finish < soonest) std::tie(soonest, best) = std::tuple(finish, i);
      }
      if (best == device && admitted(device, entry)) return Found{fresh, entry};
      if (best) ahead.put(*best, audio(entry));
    }
  return {};
}

/// A piece that has to run alone goes to an empty device.
std::optional<Placement> Placer::risky() const {
  for (const JobKey id : scene_.queue.risky()) {
    const QueuedJob& it = scene_.queue.at(id);
    for (const DeviceIndex device : by_preference(it.ready.front().audio.count()))
      if (scene_.devices[device].pieces() == 0 && !refused(scene_, device, it))
        return Placement{.job = id, .device = device};
  }
  return {};
}

/// A job by which to explain why a device takes nothing: the first that would be considered.
const QueuedJob* first_job(const Scene& scene) {
  const Groups& groups = scene.queue.groups();
  if (groups.empty()) return nullptr;
  const JobGroup& group = groups.begin()->second;
  return &scene.queue.at(group.started.empty() ? group.fresh.begin()->job : group.started.begin()->job);
}

std::string held_back_words(Idle why) {
  switch (why) {
    case Idle::input: return "what there is to do is still being listed";
    case Idle::cap: return "as many jobs are in work as may be";
    case Idle::drained: return "no job is begun until the run is resumed";
    case Idle::disk_full: return "no job is begun until there is space on a full disk";
    case Idle::not_writable: return "no job is begun until a folder can be written to again";
    case Idle::put_off: return "what is left is to be tried again later, or in work elsewhere";
    case Idle::awaiting_answer: return "no job is begun until a question is answered";
    default: return "no job is begun beside those in work: " + std::string(name_of(why));
  }
}

}  // namespace

std::optional<Placement> place(const Scene& scene) {
  if (!scene.queue.anything_ready()) return {};
  const Placer placer(scene);
  if (const auto risky = placer.risky()) return risky;
  return placer.next();
}

std::optional<Refusal> why_not(const Scene& scene, DeviceIndex device) {
  const DeviceRecord& record = scene.devices[device];
  if (!record.health().in_service())
    return Refusal{idle_of(Limit::not_in_service, record), words(Limit::not_in_service, scene, device)};
  const bool more_come = scene.held_back == Idle::input;
  if (scene.queue.audio_unplaced() < kNothing && !more_come) return Refusal{Idle::no_job, "nothing is left to start"};
  const QueuedJob* job = first_job(scene);
  if (!job && scene.host_short) return Refusal{Idle::memory, *scene.host_short};
  if (!job && !scene.queue.risky().empty())
    return Refusal{Idle::fault, "waits for a piece that has to run alone elsewhere"};
  if (!job && scene.held_back) return Refusal{*scene.held_back, held_back_words(*scene.held_back)};
  if (!job) return Refusal{Idle::input, "no job has its input ready"};
  if (const auto limit = refused(scene, device, *job))
    return Refusal{idle_of(*limit, record), words(*limit, scene, device)};
  if (scene.options.policy == Policy::round_robin) return Refusal{Idle::no_job, "what is left was dealt to others"};
  return Refusal{Idle::left_to_faster, "others finish what is left before it could"};
}

std::optional<DeviceIndex> next_device(const Scene& scene) {
  const auto order = Placer(scene).by_preference(scene.options.piece.count());
  if (order.empty()) return {};
  return order.front();
}

}  // namespace tutti
