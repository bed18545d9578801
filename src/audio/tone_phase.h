#pragma once

#include <complex>
#include <cstddef>
#include <vector>

// The phase of a keyed carrier. A receiver that knows it lets half of the noise pass: only what is in phase with the
// carrier is kept (coherent detection). All functions here are pure.

namespace tutti {

/// A tone mixed down to nothing (0 Hz): its amplitude and its phase, at kToneRate. What is left of its frequency, as
/// after mixing 602 Hz with 600, turns the phase so many times a second. Noise beside the tone is in both parts, in
/// each with half of its power.
using ToneSample = std::complex<float>;

inline constexpr double kToneRate = 2000;  // Hz

/// Linear interpolation of values that stand `apart` samples from each other, the first of them at sample `first`:
/// [size]. Before the first and behind the last value theirs count.
std::vector<double> between(const std::vector<double>& values, double first, double apart, std::size_t size);

/// What is up to `width` Hz from nothing, without ringing: a Gaussian in time and in frequency, which is half as strong
/// at `width`. `rate`: of `base`, in Hz. Any length; [size of base].
std::vector<ToneSample> low_passed(const std::vector<ToneSample>& base, double width, double rate);

/// The tone turned so that its carrier, the line that stays when keying is averaged out, has the phase of nothing: the
/// real part has all of the tone then, and half of the noise. Of a carrier that fades or turns faster than can be
/// followed, some is in the other part.
///
/// base: at kToneRate, its frequency within 2 Hz of nothing. Returns as many samples.
std::vector<ToneSample> in_phase(const std::vector<ToneSample>& base);

}  // namespace tutti
