#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

/// Names one random number of a training. The same key gives the same number whatever was drawn before, on any thread
/// and after any resume.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t epoch = 0;  // or step
  std::string_view id{};    // of the sample; empty: of none
  std::string_view what{};  // "timestamps", "dropout", ...
};

/// 64 well-mixed bits.
std::uint64_t draw_bits(const DrawKey& key);
/// Uniform in [0, 1), 53 bits.
double uniform_draw(const DrawKey& key);

}  // namespace tutti
