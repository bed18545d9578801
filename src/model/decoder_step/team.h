#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "model/decoder_step/numbers.h"

namespace tutti {

/// A kernel is written for a team: kThreads threads that work on one unit and share some floats of memory. On a GPU a
/// team is a block (device_kernels.cu); on the host it is this loop, so that the same kernel can be tested anywhere.
/// Every member that works on all threads ends with a barrier: what one thread wrote to memory, all see.
inline constexpr int kThreads = 256;

/// kMembers neighbours of a team that add up together, each with a Lane of its own.
template <class Lane, int kMembers>
struct HostGroup {
  int index = 0;
  std::array<Lane, kMembers> lanes{};

  /// fn(lane, member), by all members.
  template <class Fn>
  void each(Fn fn) {
    for (int member = 0; member < kMembers; ++member) fn(lanes[static_cast<std::size_t>(member)], member);
  }

  /// The same, and what one member wrote to memory, all of them see afterwards. Of groups that are a warp.
  template <class Fn>
  void step(Fn fn) {
    each(fn);
  }

  /// The sums of Floats<N> fn(lane, member) over the members.
  template <class Fn>
  auto sums(Fn fn) {
    auto all = fn(lanes[0], 0);
    for (int member = 1; member < kMembers; ++member) {
      const auto part = fn(lanes[static_cast<std::size_t>(member)], member);
      for (std::size_t i = 0; i < std::size(all.at); ++i) all.at[i] += part.at[i];
    }
    return all;
  }

  /// The largest fn(lane, member).
  template <class Fn>
  float greatest(Fn fn) {
    float most = -std::numeric_limits<float>::infinity();
    each([&](Lane& lane, int member) { most = std::max(most, fn(lane, member)); });
    return most;
  }
};

struct HostTeam {
  /// Loads from memory that the kernel does not write: sixteen bytes at once, or a number.
  template <class T>
  T load(const T* from) const {
    return *from;
  }
  /// Loads from memory that the kernel may write, and from shared memory.
  template <class T>
  T read(const T* from) const {
    return *from;
  }
  template <class T>
  void write(T* to, const T& value) const {
    *to = value;
  }

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

  /// fn(group), for the kThreads / kMembers groups of a team. All of them take the same number of sums.
  template <class Lane, int kMembers, class Fn>
  void each_group(Fn fn) const {
    for (int index = 0; index < kThreads / kMembers; ++index) {
      HostGroup<Lane, kMembers> group{index};
      fn(group);
    }
  }
};

/// N numbers from an address of sixteen bytes, as floats.
template <int N, class T, class Team>
TUTTI_TEAM Floats<N> load_floats(const Team& team, const T* from) {
  constexpr int kEach = kPiece<T>, kPieces = N / kEach;
  static_assert(N % kEach == 0);
  Piece<T> pieces[kPieces];
  for (int i = 0; i < kPieces; ++i) pieces[i] = team.load(reinterpret_cast<const Piece<T>*>(from) + i);
  Floats<N> floats;
  for (int i = 0; i < N; ++i) floats.at[i] = widened(pieces[i / kEach].at[i % kEach]);
  return floats;
}

/// N floats of shared memory, from an address of sixteen bytes.
template <int N, class Team>
TUTTI_TEAM Floats<N> read_floats(const Team& team, const float* from) {
  static_assert(N % kPiece<float> == 0);
  Floats<N> floats;
  for (int i = 0; i < N; i += kPiece<float>) {
    const auto piece = team.read(reinterpret_cast<const Piece<float>*>(from + i));
    for (int j = 0; j < kPiece<float>; ++j) floats.at[i + j] = piece.at[j];
  }
  return floats;
}

template <int N, class Team>
TUTTI_TEAM void write_floats(const Team& team, float* to, const Floats<N>& floats) {
  static_assert(N % kPiece<float> == 0);
  for (int i = 0; i < N; i += kPiece<float>) {
    Piece<float> piece;
    for (int j = 0; j < kPiece<float>; ++j) piece.at[j] = floats.at[i + j];
    team.write(reinterpret_cast<Piece<float>*>(to + i), piece);
  }
}

}  // namespace tutti
