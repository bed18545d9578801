#include "train/draws.h"

namespace tutti {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  return hash;
}

}  // namespace

std::uint64_t draw_bits(const DrawKey& key) {
  auto bits = mixed(key.seed);
  bits = mixed(bits ^ key.epoch);
  bits = mixed(bits ^ hash_of(key.id));
  return mixed(bits ^ hash_of(key.what));
}

double uniform_draw(const DrawKey& key) {
  return static_cast<double>(draw_bits(key) >> 11) * 0x1.0p-53;
}

}  // namespace tutti
