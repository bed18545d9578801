#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/utf8.h"

namespace tutti {

/// Knuth's MMIX generator; `pick(n)` is in [0, n). Equal to Lcg in tools/golden/tokenizer_strings.py.
class Lcg {
 public:
  explicit Lcg(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  std::uint32_t pick(std::uint32_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint32_t>((state_ >> 33) % n);
  }

 private:
  std::uint64_t state_;
};

/// FNV-1a of 64 bits, fed as Fnv in tools/golden/tokenizer_strings.py.
class Fnv {
 public:
  void add_text(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(0xFF);
  }
  void add_ids(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) add_id(id);
    add_id(-1);
  }
  std::string hex() const {
    std::string out;
    for (int shift = 60; shift >= 0; shift -= 4) out.push_back("0123456789abcdef"[value_ >> shift & 0xF]);
    return out;
  }

 private:
  void add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3u; }
  void add_id(std::int32_t id) {
    for (int shift = 0; shift < 32; shift += 8)
      add(static_cast<unsigned char>(static_cast<std::uint32_t>(id) >> shift));
  }

  std::uint64_t value_ = 0xCBF29CE484222325u;
};

/// The strings that tools/golden/tokenizer_strings.py makes under the same index.
std::string generated_text(std::uint64_t index);
/// Numbers, titles, contractions and punctuation, as tools/golden/normaliser_strings.py makes them.
std::string generated_english(std::uint64_t index);
std::vector<std::int32_t> generated_ids(std::uint64_t index, std::int32_t n_vocab);

}  // namespace tutti
