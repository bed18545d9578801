#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "balance/dispatcher.h"
#include "balance/queue_rank.h"
#include "balance/types.h"

namespace tutti {

/// Pieces of a job that can start, all alike.
struct ReadyPieces {
  Seconds audio{};  // each
  std::int64_t count = 0;
  bool risky = false;  // in flight when a worker was lost: runs alone, so that it is clear whose fault the next loss is
  std::vector<DeviceIndex> took_down{};  // devices it may be to blame for, as long as they are well without it
};

/// A job and how far it is.
struct QueuedJob {
  JobKey id = 0;
  JobFacts facts{};
  std::uint64_t arrival = 0;              // counts jobs as they are added
  std::optional<DeviceIndex> dealt_to{};  // round robin
  std::vector<ReadyPieces> ready{};       // the next one in front
  Seconds ready_audio{};
  Seconds placed{};  // audio in flight or done
  int in_flight = 0;
  bool started = false;
  bool ended = false;
  int exhausted = 0;                    // devices were out of memory for it
  std::vector<DeviceIndex> avoid{};     // devices whose worker was lost with it
  std::vector<std::string> evidence{};  // the reasons of all its failures
  Seconds counted{};                    // its part of WorkQueue::audio_unplaced: what is neither in flight nor done
  double counted_pieces = 0;            // and the pieces that makes
  Seconds believed{};                   // its length when it was added
  std::optional<Seconds> found{};       // its length as found since

  bool risky() const { return !ready.empty() && ready.front().risky; }
  bool avoids(DeviceIndex device) const { return std::find(avoid.begin(), avoid.end(), device) != avoid.end(); }
};

/// Jobs that can run on the same devices and are of the same rank: one order among them decides.
struct JobGroup {
  struct Entry {
    double first = 0;   // by this, least first …
    double second = 0;  // … then this, then the id
    JobKey job = 0;
    auto operator<=>(const Entry&) const = default;
  };
  std::set<Entry> started{};  // in work, with pieces ready: they come first
  std::set<Entry> fresh{};    // with pieces ready, not begun; a batch's are ordered by minus their audio
};

/// What makes a group. Ordered so that what comes first is served first.
struct GroupKey {
  std::int64_t rank = 0;  // QueueRank::rank; it never changes
  JobClass kind{};
  bool whole = false;
  std::int64_t dealt_to = -1;
  auto operator<=>(const GroupKey&) const = default;
};

/// All jobs, with the ones that can start now in the order in which they should. Every operation costs the logarithm of
/// the number of jobs.
class WorkQueue {
 public:
  explicit WorkQueue(const DispatcherOptions& options) : options_(options) {}

  void add(JobKey id, JobFacts facts, std::optional<DeviceIndex> dealt_to);
  QueuedJob* find(JobKey id);
  void correct_length(JobKey id, Seconds audio);
  void offer(JobKey id, ReadyPieces pieces);
  /// A piece that was placed comes back, in front of the others.
  void put_back(JobKey id, ReadyPieces piece);
  void withdraw(JobKey id);
  void end(JobKey id);
  /// What was lost on this device is no job's fault.
  void clear_blame(DeviceIndex device);
  /// Its attempt is over and it is not: as if nothing of it had begun. Not while something of it is in flight.
  void defer(JobKey id);

  /// Takes the next piece of a job that has one, as placed on a device.
  ReadyPieces take(JobKey id);
  /// A placed piece is done. Pieces of jobs that have ended land like others.
  void landed(JobKey id);

  const std::map<GroupKey, JobGroup>& groups() const { return groups_; }
  /// Jobs whose next piece has to run alone; they are in no group.
  const std::set<JobKey>& risky() const { return risky_; }
  const QueuedJob& at(JobKey id) const { return jobs_.at(id); }
  bool anything_ready() const { return !groups_.empty() || !risky_.empty(); }
  /// Audio that is neither in flight nor done, in seconds; what is not known is taken for the mean of what is.
  double audio_unplaced() const { return std::max(0.0, known_) + std::max(0.0, believed_) * found_share(); }
  /// The length of a mean piece of that; while nothing is left, a window's.
  Seconds piece_unplaced() const;
  /// The part of that which cannot start yet.
  double audio_unready() const { return std::max(0.0, audio_unplaced() - ready_); }
  std::size_t in_work() const { return in_work_; }

 private:
  QueueRank rank(const QueuedJob& job) const;
  GroupKey key_of(const QueuedJob& job) const;
  JobGroup::Entry entry_of(const QueuedJob& job) const;
  bool listed(const QueuedJob& job) const { return !job.ended && !job.ready.empty(); }
  /// Changes a job, taking it out of its group before and putting it in the right one after.
  template <class How>
  void change(JobKey id, How&& how);
  void list(const QueuedJob& job);
  void unlist(const QueuedJob& job);
  void forget_when_over(JobKey id);
  void count(QueuedJob& job);
  void start(QueuedJob& job);
  Seconds assumed(const QueuedJob& job) const;
  /// How much of the recordings' declared length was found in them: often only their speech is transcribed.
  double found_share() const;

  DispatcherOptions options_;
  std::unordered_map<JobKey, QueuedJob> jobs_{};
  std::map<GroupKey, JobGroup> groups_{};
  std::set<JobKey> risky_{};
  std::uint64_t arrivals_ = 0;
  std::size_t in_work_ = 0;
  double known_ = 0;     // unplaced audio of jobs whose length was found
  double believed_ = 0;  // unplaced audio of the others, as long as they are declared to be
  double found_of_ = 0, found_ = 0;
  std::size_t finds_ = 0;
  double ready_ = 0;
  double pieces_ = 0;  // pieces of known_ and believed_ together
};

}  // namespace tutti
