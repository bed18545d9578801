#include "flow/crew.h"

#include <algorithm>
#include <utility>

namespace tutti {
namespace {

// The crew that dismissed this thread. A thread belongs to one crew until it ends.
thread_local const Crew* dismissed_by = nullptr;

}  // namespace

Crew::Crew(Loop loop, int threads, Hooks hooks) : hooks_(std::move(hooks)) {
  state_.with([&](State& state) {
    state.loop = std::move(loop);
    state.wanted = std::max(threads, 1);
  });
}

void Crew::start() {
  state_.with([&](State& state) {
    state.is_started = true;
    fill(state);
  });
}

void Crew::fill(State& state) {
  while (state.is_started && state.loop && state.live < state.wanted) launch(state);
  note_surplus(state);
}

void Crew::launch(State& state) {
  Member& member = state.members.emplace_back();
  try {
    member.thread = std::thread([this, &member, loop = state.loop]() mutable { work(std::move(loop), member); });
  } catch (...) {
    state.members.pop_back();
    throw;
  }
  ++state.live;
}

void Crew::resize(int threads) {
  std::list<Member> done;
  state_.with([&](State& state) {
    state.wanted = std::max(threads, 1);
    fill(state);
    for (auto at = state.members.begin(); at != state.members.end();) {
      const auto member = at++;
      if (member->is_done) done.splice(done.end(), state.members, member);
    }
  });
  for (auto& member : done) member.thread.join();
  if (hooks_.nudge) hooks_.nudge();
}

bool Crew::may_leave() {
  return state_.with([&](State& state) {
    if (state.live <= state.wanted) return false;
    --state.live;
    note_surplus(state);
    dismissed_by = this;
    return true;
  });
}

void Crew::work(Loop loop, Member& me) {
  try {
    loop(*this);
  } catch (...) {
    if (hooks_.failed) hooks_.failed(std::current_exception());
  }
  const bool is_dismissed = dismissed_by == this;
  Loop last;
  if (!is_dismissed) last = state_.with([](State& state) { return std::exchange(state.loop, nullptr); });
  last = nullptr;  // outside the lock: what the loop holds may close channels
  loop = nullptr;
  state_.change([&](State& state) {
    if (!is_dismissed) --state.live;
    note_surplus(state);
    me.is_done = true;
  });
}

void Crew::join() {
  Loop last;  // only a crew that never started still has it
  std::list<Member> members = state_.wait(
      [](const State& state) {
        return std::all_of(state.members.begin(), state.members.end(), [](const Member& m) { return m.is_done; });
      },
      [&](State& state) {
        last = std::exchange(state.loop, nullptr);
        return std::exchange(state.members, {});
      });
  for (auto& member : members) member.thread.join();
}

}  // namespace tutti
