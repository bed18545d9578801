#include "transcribe/batch/batch_attempt.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

/// The run has the specification once: it is most of what a hundred thousand attempts would take.
Lease without_spec(Lease lease) {
  lease.job.spec = {};
  return lease;
}

}  // namespace

BatchAttempt::BatchAttempt(std::size_t its_index, std::size_t its_worker, Lease its_lease, const BatchJob& its_job,
                           Seconds length)
    : index(its_index), worker(its_worker), lease(without_spec(std::move(its_lease))), job(its_job) {
  state_.with([&](State& state) { state.length = length; });
}

Seconds BatchAttempt::length() const {
  return state_.with([](const State& state) { return state.length; });
}

void BatchAttempt::set_decoded(Seconds length) {
  state_.with([&](State& state) {
    state.length = length;
    state.decoded = true;
  });
}

double BatchAttempt::share() const {
  const Seconds whole = length();
  return whole > Seconds(0) ? std::min(1.0, Seconds(position_) / whole) : 0;
}

void BatchAttempt::set_publishing() {
  state_.with([](State& state) { state.publishing = true; });
}

JobStatus BatchAttempt::status() const {
  return state_.with([this](const State& state) {
    JobStatus status{.id = std::to_string(id()),
                     .name = job.spec.name,
                     .device = state.engine ? state.engine->where() : std::string(),
                     .done = Seconds(position_),
                     .length = state.length};
    if (!status.device.empty()) return status;
    if (state.publishing)
      status.waiting_for = "its outputs are written";
    else if (no_space_)
      status.waiting_for = "its decoded audio has no disk space";
    else if (!state.decoded)
      status.waiting_for = "its audio is decoded";
    return status;
  });
}

bool BatchAttempt::is_running() const {
  return state_.with([this](const State& state) {
    return state.publishing || (!state.decoded && !no_space_) || (state.engine && !state.engine->where().empty());
  });
}

const TranscriptionContext* BatchAttempt::context(const std::function<std::unique_ptr<JobEngine>()>& engine,
                                                  const MakeContext& make) {
  return state_.with([&](State& state) -> const TranscriptionContext* {
    if (settled_) return nullptr;
    if (!state.context) {
      state.engine = engine();
      state.engine->correct_length(state.length);
      state.context.emplace(make(*state.engine));
    }
    return &*state.context;
  });
}

JobEngine::Use BatchAttempt::use() const {
  return state_.with([](const State& state) { return state.engine ? state.engine->use() : JobEngine::Use{}; });
}

void BatchAttempt::cancel() {
  state_.with([](State& state) {
    if (state.engine) state.engine->cancel();
  });
}

void BatchAttempt::release_engine() {
  const auto released = state_.with([](State& state) { return std::move(state.engine); });
}

}  // namespace tutti
