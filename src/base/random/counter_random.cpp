#include "base/random/counter_random.h"

#include <cmath>
#include <numbers>

namespace tutti {
namespace {

std::array<std::uint32_t, 4> philox(std::uint64_t counter, std::uint64_t key) {
  constexpr std::uint64_t kMultiply0 = 0xD2511F53, kMultiply1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  std::array<std::uint32_t, 4> x{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0};
  auto k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMultiply0 * x[0], p1 = kMultiply1 * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return x;
}

}  // namespace

std::uint64_t mixed(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t state = 0;
  for (const std::uint64_t part : parts) state = finalised(state + kSplitMixStep + finalised(part));
  return state;
}

std::uint64_t digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, then mixed: close texts must give far keys
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return mixed({hash, text.size()});
}

std::uint32_t CounterRandom::bits32() {
  if (left_ == 0) {
    block_ = philox(counter_++, key_);
    left_ = 4;
  }
  return block_[static_cast<std::size_t>(4 - left_--)];
}

std::int64_t CounterRandom::below(std::int64_t count) {
  // The high half of a product is even to within 2^-64 * count.
  return static_cast<std::int64_t>((static_cast<unsigned __int128>(bits64()) * static_cast<std::uint64_t>(count)) >>
                                   64);
}

double CounterRandom::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace tutti
