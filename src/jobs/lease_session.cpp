#include "jobs/lease_session.h"

#include <utility>

#include "base/log.h"
#include "base/try.h"

namespace tutti {

template <class Write>
auto LeaseSession::repeated(Bytes needed, Write write) -> decltype(write()) {
  std::optional<decltype(write())> answer;
  TRY(repeat_(needed, [&]() -> Result<void> {
    answer = write();
    if (!answer->has_value()) return tl::unexpected(answer->error());
    return {};
  }));
  return std::move(*answer);
}

Result<std::vector<Lease>> LeaseSession::claim(const ClaimRequest& requested, std::size_t most) {
  ClaimRequest request = requested;
  request.length = length_;
  const std::size_t before = state_.with([](const State& state) { return state.renewals; });
  auto leases = repeated({}, [&] { return queue_.claim(request, most); });
  if (!leases || leases->empty()) return leases;
  const bool renewed_meanwhile = state_.with([&](State& state) {
    for (const Lease& lease : *leases) state.claims.insert({lease.key.token, {.job = lease.key.job}});
    return state.renewals != before;
  });
  if (renewed_meanwhile) renew();  // it did not know of these claims, and may have been to find their cancellation
  return leases;
}

Result<std::optional<Lease>> LeaseSession::claim(const ClaimRequest& requested) {
  auto leases = TRY(claim(requested, 1));
  return leases.empty() ? std::nullopt : std::optional(std::move(leases.front()));
}

void LeaseSession::attach(const LeaseKey& key, LeaseHolder holder) {
  std::optional<bool> revoked;
  state_.with([&](State& state) {
    const auto found = state.claims.find(key.token);
    if (found == state.claims.end()) return;
    Claim& claim = found->second;
    if (claim.phase != Phase::revoked) {
      claim.holder = std::move(holder);
      return;
    }
    revoked = claim.cancelled;
    state.claims.erase(found);
  });
  if (revoked) holder.revoked(*revoked);
}

/// Ends the claim by what is written; none: it has ended, or was revoked. Where an error is not to end it, it is held
/// on.
template <class Write>
auto LeaseSession::end_by(const LeaseKey& key, Write write, bool also_by_error) -> std::optional<decltype(write())> {
  const bool is_mine = state_.with([&](State& state) {
    const auto found = state.claims.find(key.token);
    if (found == state.claims.end()) return false;
    const bool is_held = found->second.phase != Phase::revoked;
    if (is_held)
      found->second.phase = Phase::ending;
    else
      state.claims.erase(found);
    return is_held;
  });
  if (!is_mine) return {};
  auto written = write();
  if (written || also_by_error) state_.with([&](State& state) { state.claims.erase(key.token); });
  return written;
}

Result<ContentCheck> LeaseSession::content_known(const LeaseKey& key, const std::string& sha256) {
  const bool is_held = state_.with([&](const State& state) {
    const auto found = state.claims.find(key.token);
    return found != state.claims.end() && found->second.phase != Phase::revoked;
  });
  if (!is_held) return ContentCheck{.what = ContentCheck::What::lost};
  auto check = repeated({}, [&] { return queue_.content_known(key, sha256); });
  if (check && (check->what == ContentCheck::What::wait || check->what == ContentCheck::What::lost))
    state_.with([&](State& state) { state.claims.erase(key.token); });
  return check;
}

Result<void> LeaseSession::set_length(const LeaseKey& key, Seconds audio) {
  return repeated({}, [&] { return queue_.set_length(key, audio, LengthSource::measured); });
}

Result<Published> LeaseSession::publish(const Lease& lease, std::span<const OutputContent> outputs,
                                        const AttemptUse& use, const PublishFolders& folders) {
  const auto publish = [&] { return publish_outputs(queue_, records_, lease, outputs, use, folders); };
  return end_by(
             lease.key, [&] { return repeated(size_of(outputs), publish); }, /*also_by_error=*/false)
      .value_or(Published{});
}

Result<AfterFailure> LeaseSession::fail(const LeaseKey& key, const Failure& failure) {
  return end_by(key, [&] { return repeated({}, [&] { return queue_.fail(key, failure); }); })
      .value_or(AfterFailure{.held = false});
}

Result<bool> LeaseSession::release(const LeaseKey& key, const std::string& reason) {
  return end_by(key, [&] { return queue_.release(key, reason); }).value_or(false);
}

Result<bool> LeaseSession::undo_claim(const LeaseKey& key) {
  return end_by(key, [&] { return queue_.undo_claim(key); }).value_or(false);
}

Result<bool> LeaseSession::cancelled(const LeaseKey& key) {
  return end_by(key, [&] { return queue_.cancelled(key); }).value_or(false);
}

void LeaseSession::release_all(const std::string& reason) {
  const auto held = state_.with([](const State& state) {
    std::vector<LeaseKey> keys;
    for (const auto& [token, claim] : state.claims) keys.push_back({claim.job, token});
    return keys;
  });
  for (const auto& key : held)
    if (const auto released = release(key, reason); !released)
      log(Level::error, "the store: " + released.error().text());
}

void LeaseSession::renew() {
  std::vector<Renewal> renewals;
  std::vector<std::function<double()>> progress;
  state_.with([&](State& state) {
    ++state.renewals;
    for (const auto& [token, claim] : state.claims) {
      if (claim.phase == Phase::revoked) continue;
      renewals.push_back({.key = {claim.job, token}, .length = length_});
      progress.push_back(claim.holder.progress);
    }
  });
  for (std::size_t i = 0; i < renewals.size(); ++i)
    if (progress[i]) renewals[i].progress = progress[i]();
  const auto standings = queue_.renew(renewals);
  if (!standings) return log(Level::warning, "the store: leases could not be renewed: " + standings.error().text());
  for (std::size_t i = 0; i < standings->size(); ++i)
    if ((*standings)[i] != LeaseStanding::held) revoke(renewals[i].key, (*standings)[i] == LeaseStanding::cancel);
}

/// Not while a thread ends it: that finds out by itself who holds the lease.
void LeaseSession::revoke(const LeaseKey& key, bool cancel) {
  std::function<void()> stop;
  const bool is_mine = state_.with([&](State& state) {
    const auto found = state.claims.find(key.token);
    if (found == state.claims.end() || found->second.phase != Phase::working) return false;
    if (cancel) stop = found->second.holder.stop;
    if (!stop) found->second.phase = Phase::ending;
    return !stop;
  });
  if (stop) return stop();
  if (!is_mine) return;
  const auto recorded = cancel ? queue_.cancelled(key) : Result<bool>(false);
  if (!recorded) log(Level::error, "the store: " + recorded.error().text());
  const bool cancelled = recorded.value_or(false);
  const auto revoked = state_.with([&](State& state) -> std::function<void(bool)> {
    const auto found = state.claims.find(key.token);
    if (found == state.claims.end()) return {};
    Claim& claim = found->second;
    if (!claim.holder.revoked) {
      claim.phase = Phase::revoked;
      claim.cancelled = cancelled;
      return {};
    }
    auto notify = std::move(claim.holder.revoked);
    state.claims.erase(found);
    return notify;
  });
  if (revoked) revoked(cancelled);
}

void LeaseSession::look_after() {
  renew();
  if (const auto reaped = queue_.reap(); !reaped) log(Level::warning, "the store: " + reaped.error().text());
}

}  // namespace tutti
