#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/sample_reader.h"
#include "base/units.h"

namespace tutti {

// Preparing a spoken clip: where it sounds, how loud it is, what is in its pauses. Samples are mono, 1 at full scale.
// Pure but for the buffer that a function changes; thread-safe.

/// From the first to the last part of 20 ms that is no more than `decibels` below the loudest one. Everything where
/// the audio is shorter than such a part. `rate`: of the samples. `decibels`: of amplitude (20 log10), more than 0.
SampleRange sounding_range(std::span<const float> samples, Hertz rate, double decibels);

/// Root mean square of the samples, of 1 at full scale; 0 for none. Summed in float64, so
/// that hours of samples lose nothing.
double level_of(std::span<const float> samples);

/// Scales the samples in their buffer to `level`, a root mean square, or to what leaves the largest of them below full
/// scale. Silence stays as it is. All of them get the same gain, so that a clip's dynamics stay; where its peak would
/// be above 0.99, the clip stays softer than `level`.
void bring_to_level(std::span<float> samples, double level);

/// Fades the first and the last samples in and out by half a cosine over `length`, or half of them where they are
/// fewer, so that what is put before and behind them joins without a click. The outermost ones become 0.
void fade_ends(std::span<float> samples, Hertz rate, Seconds length);

/// Adds white noise of that standard deviation (5e-4 is 66 dB below full scale), nearly normal, the same for the same
/// key: nothing that is recorded holds digital zeros, and a model that learns them never makes a pause again that a
/// recogniser takes for one.
void add_background_noise(std::span<float> samples, double deviation, std::uint64_t key);

}  // namespace tutti
