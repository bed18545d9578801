#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/guarded.h"
#include "base/units.h"
#include "jobs/job_queue.h"
#include "jobs/publish.h"
#include "jobs/store.h"

namespace tutti {

/// Runs a write to the store or of outputs; again as long as waiting may end its error, as that of a full disk.
/// `needed`: how much it writes; 0: not known.
using RepeatWrite = std::function<Result<void>(Bytes needed, const std::function<Result<void>()>& write)>;

/// How often `LeaseSession::look_after` is to be called: twice in the time after which a lease is due.
inline constexpr std::chrono::seconds kLookAfterLeasesEvery{10};
static_assert(2 * kLookAfterLeasesEvery <= kRenewEvery);

/// Who works on a claimed job. Called by the thread that renews, under no lock.
struct LeaseHolder {
  std::function<double()> progress{};  // the share of the job that is done, 0..1
  /// The claim has ended while it was worked on: what is still computed for it goes nowhere. `cancelled`: the store has
  /// recorded that the job was cancelled; else another process holds it, or none.
  std::function<void(bool cancelled)> revoked{};
  /// Where it is there, a job that is to be cancelled is stopped by it, and the one who works on it calls
  /// LeaseSession::cancelled when that has ended. Else the claim ends at once.
  std::function<void()> stop{};
};

/// The one way to hold jobs of a store: a job is claimed, its lease renewed, its result published, and how the attempt
/// ended recorded. A batch and the jobs of a service both do it here. Thread-safe; has no thread of its own.
///
/// What it guarantees, whatever the network, the disks and the scheduler do to this process:
/// 1. Every claim has a token of its own, random and never given twice, and every write for the claim carries it. A
///    write whose claim has ended changes nothing and answers so.
/// 2. A claim ends once: by `publish`, `fail`, `release`, `undo_claim` or `cancelled`, or revoked. The first thread
/// that ends it
///    decides; what others do for it then is nothing.
/// 3. A holder that was paused beyond its lease, however long, publishes nothing: outputs are staged under their own
///    names, get their public names only once the store has recorded them under the token, and only as long as it
///    still has that record. What a loser staged is removed.
/// 4. A held lease is renewed before any is taken back: a suspend of this machine costs its own jobs nothing.
/// 5. A cancellation that the store knows is found at the next renewal. A job that is being published by then finds it
///    in that.
class LeaseSession {
 public:
  /// `length`: of its leases. `look_after` is to be called six times in that.
  LeaseSession(JobQueue& queue, OutputRecords& records, RepeatWrite repeat,
               std::chrono::milliseconds length = kLeaseLength)
      : queue_(queue), records_(records), repeat_(std::move(repeat)), length_(length) {}

  /// As JobQueue::claim, for the length of its leases. The leases are renewed from now on.
  Result<std::vector<Lease>> claim(const ClaimRequest& requested, std::size_t most);
  /// The first one.
  Result<std::optional<Lease>> claim(const ClaimRequest& requested);
  /// Who works on it. Where it was revoked meanwhile, `revoked` is called now, by this thread.
  void attach(const LeaseKey& key, LeaseHolder holder);

  /// As JobQueue::content_known; ends the claim where another job with that content is waited for.
  Result<ContentCheck> content_known(const LeaseKey& key, const std::string& sha256);
  /// Records how long its audio is, as measured.
  Result<void> set_length(const LeaseKey& key, Seconds audio);

  /// Publishes the result and ends the claim. It is not revoked meanwhile. After an error nothing is recorded, and it
  /// is still held: `fail` or `release` it.
  Result<Published> publish(const Lease& lease, std::span<const OutputContent> outputs, const AttemptUse& use,
                            const PublishFolders& folders);
  Result<AfterFailure> fail(const LeaseKey& key, const Failure& failure);
  /// The job is queued again, or cancelled where that was requested. False: the claim had ended.
  Result<bool> release(const LeaseKey& key, const std::string& reason);
  /// As JobQueue::undo_claim: it was not begun. False: the claim had ended.
  Result<bool> undo_claim(const LeaseKey& key);
  /// The answer to LeaseHolder::stop. False: the claim had ended.
  Result<bool> cancelled(const LeaseKey& key);
  /// Every claim that has not ended; logs what the store could not record.
  void release_all(const std::string& reason);

  /// Renews all leases, and ends claims that are lost or to be cancelled.
  void renew();
  /// The same, then takes back leases that ran out and those of processes that have gone.
  void look_after();

 private:
  enum class Phase {
    working,
    ending,  // a thread publishes it, or records how it ended: it is renewed, and not revoked
    revoked  // its holder is not known yet
  };
  struct Claim {
    JobId job = 0;
    Phase phase = Phase::working;
    bool cancelled = false;  // revoked: because of that
    LeaseHolder holder{};
  };
  struct State {
    std::map<std::string, Claim> claims{};  // that have not ended, by token
    std::size_t renewals = 0;
  };

  template <class Write>
  auto repeated(Bytes needed, Write write) -> decltype(write());
  template <class Write>
  auto end_by(const LeaseKey& key, Write write, bool also_by_error = true) -> std::optional<decltype(write())>;
  void revoke(const LeaseKey& key, bool cancel);

  JobQueue& queue_;
  OutputRecords& records_;
  const RepeatWrite repeat_;
  const std::chrono::milliseconds length_;
  Guarded<State> state_{};
};

}  // namespace tutti
