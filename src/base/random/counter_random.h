#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tutti {

/// What SplitMix64 (Steele, Lea, Flood 2014) adds to its state at every step.
inline constexpr std::uint64_t kSplitMixStep = 0x9e3779b97f4a7c15U;

/// SplitMix64's finaliser: every bit that goes in reaches every bit that comes out.
constexpr std::uint64_t finalised(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

/// The number that SplitMix64 gives behind the state `x`.
constexpr std::uint64_t split_mixed(std::uint64_t x) {
  return finalised(x + kSplitMixStep);
}

/// A 64-bit value that depends on every bit of all `parts`, in their order (SplitMix64's finaliser over a chain).
std::uint64_t mixed(std::initializer_list<std::uint64_t> parts);

/// A 64-bit digest of a text, for keys; not for security.
std::uint64_t digest(std::string_view text);

/// Random numbers that are a function of a key and of how many were drawn before (Philox 4x32-10, Salmon et al. 2011):
/// a key always gives the same numbers, on any thread and whatever else was drawn. Cheap to make; one thread.
class CounterRandom {
 public:
  explicit CounterRandom(std::uint64_t key) : key_(key) {}
  explicit CounterRandom(std::initializer_list<std::uint64_t> parts) : CounterRandom(mixed(parts)) {}

  std::uint32_t bits32();
  std::uint64_t bits64() { return std::uint64_t{bits32()} << 32 | bits32(); }
  /// Even over [0, 1).
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }
  /// Even over [least, most).
  double uniform(double least, double most) { return least + (most - least) * uniform(); }
  /// Even over 0 ... count - 1; `count` is at least 1.
  std::int64_t below(std::int64_t count);
  bool chance(double share) { return uniform() < share; }
  /// Mean 0, variance 1.
  double normal();

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  std::array<std::uint32_t, 4> block_{};
  int left_ = 0;
};

}  // namespace tutti
