#include "transcribe/batch/attempt_list.h"

#include <algorithm>
#include <utility>

namespace tutti {

BatchAttempt& AttemptList::begin(Lease lease, const BatchJob& job, Seconds length) {
  BatchAttempt& begun = state_.with([&](State& state) -> BatchAttempt& {
    std::size_t worker = 1;  // the least that none in work has, so that of --threads 4 there are four
    while (state.in_work.contains(worker)) ++worker;
    const std::size_t index = state.all.size();
    state.in_work[worker] = index;
    return state.all.emplace_back(index, worker, std::move(lease), job, length);
  });
  queue_.count_in_work(1);
  return begun;
}

BatchAttempt& AttemptList::at(std::size_t index) {
  return state_.with([&](State& state) -> BatchAttempt& { return state.all.at(index); });
}

const BatchAttempt* AttemptList::latest_at(JobId job) const {
  return state_.with([&](const State& state) -> const BatchAttempt* {
    const auto found = std::find_if(state.all.rbegin(), state.all.rend(),
                                    [&](const BatchAttempt& attempt) { return attempt.id() == job; });
    return found == state.all.rend() ? nullptr : &*found;
  });
}

bool AttemptList::settle(BatchAttempt& attempt) {
  if (!attempt.settle()) return false;
  state_.with([&](State& state) { state.in_work.erase(attempt.worker); });
  queue_.count_in_work(-1);
  return true;
}

std::vector<const BatchAttempt*> AttemptList::in_work() const {
  return state_.with([](const State& state) {
    std::vector<const BatchAttempt*> all;
    for (const auto& [worker, index] : state.in_work) all.push_back(&state.all[index]);
    std::ranges::sort(all, {}, &BatchAttempt::index);
    return all;
  });
}

void AttemptList::settle_all() {
  state_.with([](State& state) {
    for (auto& attempt : state.all) {
      attempt.settle();
      attempt.release_engine();
    }
    state.in_work.clear();
  });
}

}  // namespace tutti
