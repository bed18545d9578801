#pragma once

#include "model/cpu/lanes.h"

// What tile_kernel.h multiplies with where any instruction set does.
namespace tutti {
namespace {

/// A group is one float32.
template <int rows, int panels>
struct FloatDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  using Sums = Lanes;
  using Weights = Lanes;
  static Weights weights(const std::byte* from) { return read_lanes<Lanes>(from); }
  static float row(std::int32_t bits) { return bits_as<float>(bits); }
  static void add(Sums& sums, float x, const Weights& w) { sums += w * x; }
};

/// A group is two bfloat16, multiplied as the float32 they are the upper halves of.
template <int rows, int panels>
struct WideningDot {
  static constexpr int kRows = rows;
  static constexpr int kPanels = panels;
  struct Pair {
    Lanes first;
    Lanes second;
  };
  /// Each in every lane.
  struct Two {
    FloatRegister first;
    FloatRegister second;
  };
  using Sums = Lanes;
  using Weights = Pair;
  static Weights weights(const std::byte* from) {
    const auto words = read_lanes<WordLanes>(from);
    return {bits_as<Lanes>(words << 16), bits_as<Lanes>(words & 0xffff0000U)};
  }
  static Two row(std::int32_t bits) {
    auto words = WordRegister{} + static_cast<std::uint32_t>(bits);
    // g++ would part the bits before it spreads them, and every way from an ordinary register costs two products' time.
    asm("" : "+v"(words));
    return {bits_as<FloatRegister>(words << 16), bits_as<FloatRegister>(words & 0xffff0000U)};
  }
  static void add(Sums& sums, const Two& x, const Weights& w) {
    sums += w.first * x.first;
    sums += w.second * x.second;
  }
};

}  // namespace
}  // namespace tutti
