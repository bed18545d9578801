#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "model/decoder_step/numbers.h"

namespace tutti {

/// A kernel is written for a team: kThreads threads that work on one unit and share some floats of memory. On a GPU a
/// team is a block (device_kernels.cu); on the host it is this loop, so that the same kernel can be tested anywhere.
/// Every member ends with a barrier: what one thread wrote to memory, all see.
inline constexpr int kThreads = 256;
inline constexpr int kGroup = 8;  // neighbours that add up together
inline constexpr int kGroups = kThreads / kGroup;

struct HostTeam {
  /// fn(thread), by all.
  template <class Fn>
  void each(Fn fn) const {
    for (int thread = 0; thread < kThreads; ++thread) fn(thread);
  }

  /// The sum of fn(thread) over all threads.
  template <class Fn>
  float total(Fn fn) const {
    float sum = 0;
    for (int thread = 0; thread < kThreads; ++thread) sum += fn(thread);
    return sum;
  }

  /// The largest fn(thread).
  template <class Fn>
  float greatest(Fn fn) const {
    float most = -std::numeric_limits<float>::infinity();
    for (int thread = 0; thread < kThreads; ++thread) most = std::max(most, fn(thread));
    return most;
  }

  /// For every round and group: use(group, round, sum of part(state, group, member, round) over its eight members),
  /// with a state = setup(member) for each thread.
  template <class Setup, class Part, class Use>
  void group_sums(int rounds, Setup setup, Part part, Use use) const {
    for (int group = 0; group < kGroups; ++group) {
      std::array<decltype(setup(0)), kGroup> states;
      for (int member = 0; member < kGroup; ++member) states[static_cast<std::size_t>(member)] = setup(member);
      for (int round = 0; round < rounds; ++round) {
        float sum = 0;
        for (int member = 0; member < kGroup; ++member) {
          sum += part(states[static_cast<std::size_t>(member)], group, member, round);
        }
        use(group, round, sum);
      }
    }
  }
};

}  // namespace tutti
