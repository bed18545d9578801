#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "balance/device_health.h"
#include "balance/dispatcher.h"
#include "balance/speed_model.h"

namespace tutti {

/// A piece in flight on a device.
struct Flight {
  GrantId id = 0;
  JobKey job = 0;
  Seconds audio{};
  Seconds started{};
  Bytes reserved{};
  bool canary = false;
  bool alone = false;                    // a risky piece: nothing is placed beside it
  std::vector<DeviceIndex> took_down{};  // as ReadyPieces has it
  Seconds share{};                       // its share of the device's time so far: dt / pieces in flight
  double crowd = 0;                      // integral of pieces in flight over time, for their average
};

/// Everything known about one device: what it has in flight and how far that is, its memory, its speed, its health, and
/// where its time went. Pure; call `advance` with the time before any other query.
class DeviceRecord {
 public:
  DeviceRecord(DeviceFacts facts, const BreakerOptions& breaker, Seconds now);

  void advance(Seconds now);

  // What it has in flight.
  void add(Flight flight);
  std::optional<Flight> remove(GrantId id);
  /// The length that a whole job in flight here turned out to have.
  void correct_length(JobKey job, Seconds audio);
  const std::vector<Flight>& flights() const { return flights_; }
  /// What was lost on `device` is no fault of what is in flight here.
  void clear_blame(DeviceIndex device) {
    for (Flight& flight : flights_) std::erase(flight.took_down, device);
  }
  int pieces() const { return static_cast<int>(flights_.size()); }
  int jobs() const { return static_cast<int>(jobs_.size()); }
  bool has_job(JobKey job) const;
  bool probing() const;     ///< a canary is in flight
  bool runs_alone() const;  ///< what is in flight is to stay alone
  /// Its worker has had one piece since it got ready, beside canaries.
  bool had_one_piece() const { return begun_ == 1; }

  // How long things take.
  double speed() const;   ///< with `enough` pieces in flight
  double single() const;  ///< speed of one alone
  void believe(double speed);
  /// What the driver reports; others leave the rest of the believed speed.
  void set_load(const DeviceLoad& load);
  /// As nvidia-smi has it, 0 to 1. Where the driver cannot say it now, 0; where there is none, whether there is work.
  double utilisation() const;
  Seconds fixed() const { return speed_.fixed(); }
  /// As speed(), in pieces of so much audio, with what they cost beside it; and by how much that may be off, relative:
  /// none before something was measured.
  double through(Seconds piece) const { return speed_.through(piece, facts_.enough); }
  std::optional<double> error(Seconds piece) const;
  Seconds drain() const;  ///< until what is in flight is done
  double audio_in_flight() const;
  /// Until its worker is expected to have loaded the model; none: it is not starting, that time is not known, or it
  /// takes longer.
  std::optional<Seconds> ready_in() const;
  void learned(const Flight& flight, Seconds now);
  std::vector<SpeedView> speeds() const { return speed_.views(); }

  // Capacity.
  int slots() const;  ///< that may be used now, as far as memory allows
  /// Pieces in flight from which on more of them would only wait for each other: twice as many as make the device as
  /// fast as it gets, or the job cap where one is set. What is begun here cannot go elsewhere any more, so nothing is
  /// begun before that helps.
  int useful() const { return std::min(slots(), std::max(2 * facts_.enough, facts_.job_cap.value_or(0))); }
  void set_slots(int slots) { facts_.slots = slots; }
  void set_foreign(Bytes foreign) { foreign_ = foreign; }
  /// Its worker has the model: it fits beside what others use now, and the next worker will take as long.
  void got_ready();
  std::optional<Bytes> free_memory(const DispatcherOptions& options) const;  ///< none: not known
  /// Whether memory allows another piece. An empty device tries one whatever the sums are, unless other processes have
  /// taken more since its worker got ready: the worker has seen what was free, and sums may be too careful. Even then
  /// it tries one after every ten minutes without, as after running out of memory: the figures about others may be
  /// wrong.
  bool holds_one_more(const DispatcherOptions& options) const;
  /// Pieces that may be in flight now: slots, as far as memory goes.
  int capacity(const DispatcherOptions& options) const;
  /// Out of memory with so many in flight, one of them by that grant: half of them from now on. What was in flight
  /// together runs out together, so grants up to `latest` tell nothing new. One more when twice as many as that have
  /// been done, each time it happens twice that; and in any case every ten minutes.
  void exhausted(GrantId grant, GrantId latest, int pieces, Seconds now);
  /// A piece has been done: its memory held that.
  void held(Seconds now);
  const std::vector<MemoryChange>& memory_changes() const { return memory_changes_; }

  const DeviceFacts& facts() const { return facts_; }
  DeviceHealth& health() { return health_; }
  const DeviceHealth& health() const { return health_; }
  std::optional<Seconds> wake_at() const;

  // Where the time went.
  void idle_because(std::optional<Idle> why);
  /// Nothing has come of what is in flight since that moment: a fault, and no work. Returns since when pieces of jobs
  /// were held up by that; none: it had none.
  std::optional<Seconds> nothing_came_since(Seconds since);
  /// Another device had stalled by then. If nothing was left for this one meanwhile, it has waited for that.
  void another_stalled(Seconds since);
  DeviceView view(Seconds now, const DispatcherOptions& options) const;

  GrantId incident = 0;          ///< the last grant there was when its worker was last lost
  bool incident_counts = false;  ///< against the jobs it had: it had been well until then

 private:
  std::optional<Seconds> ready_at() const;
  void fits_one_more(Seconds at);
  int enough_held() const;
  Seconds starting_since() const { return std::max(health_.since(), added_); }

  DeviceFacts facts_;
  DeviceHealth health_;
  SpeedModel speed_;
  double believed_;                   // speed with the device to itself, before anything was measured
  std::optional<DeviceLoad> load_{};  // none: no driver has reported
  Bytes foreign_{};                   // what others use of its memory
  Bytes foreign_when_ready_{};        // then its worker had its model beside that
  Seconds starved_{};                 // for want of memory, since it last had a piece
  std::vector<Flight> flights_{};
  std::int64_t begun_ = 0;                      // pieces that its worker has had
  std::vector<std::pair<JobKey, int>> jobs_{};  // with pieces in flight
  Bytes reserved_{};
  std::optional<int> fits_{};  // pieces, after it was out of memory
  Seconds fits_until_{};
  int held_ = 0;            // pieces done since that changed
  int caution_ = 1;         // times as many are done before one more is tried
  GrantId exhausted_at_{};  // the last grant there was when it was last out of memory
  MemoryLoss loss_{};
  std::vector<MemoryChange> memory_changes_{};
  Seconds advanced_;
  Seconds added_;
  Seconds audio_done_{};
  double windows_done_ = 0;
  Seconds busy_{};
  Seconds busy_since_{};  // start of what is in flight: the moment before which it had nothing
  IdleTime idle_{};
  std::optional<Idle> why_idle_{};
  Seconds idle_since_;  // for this reason
};

}  // namespace tutti
