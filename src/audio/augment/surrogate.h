#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

/// A surrogate of the audio by IAAFT (Schreiber and Schmitz 1996): noise with the same values in another order, and
/// nearly the same spectrum. What is stationary, such as a leak, sounds alike; every detail is another. The audio is
/// taken in blocks, each a surrogate of its own, of the largest power of two that a quarter of it holds: so the coarse
/// course of its loudness stays. The same `key` gives the same surrogate. Less than 64 samples stay as they are.
/// Thread-safe; some 40 transforms of the whole audio.
std::vector<float> iaaft_surrogate(std::span<const float> audio, std::uint64_t key);

}  // namespace tutti
