#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "audio/synth/morse_code.h"
#include "transcript/long_form.h"

namespace tutti {

// When the characters of a text were keyed, by the sound itself. Both functions are pure: any thread may call them.
//
// The text's marks and pauses are states that follow one another, and the Viterbi algorithm finds the frames at which
// one becomes the next (forced alignment): where the tone is on, marks are likely, where it is off, pauses.

/// Lays the marks of `text` on the keyed tone whose log-mel values are given: [n_mels, frames] as LogMel has them of a
/// keyed tone. Speed, weight and pauses are found by the best fit. A wrong symbol moves no more than what is beside it.
/// Attention counts for nothing: that of a small network is off by seconds where a window begins.
///
/// `n_mels`: rows of `mel`, frames of 10 ms each.
///
/// Returns the times of each byte, in seconds from the window's start. One without marks has no length.
std::vector<KeyDown> times_of_keying(std::span<const float> mel, std::size_t n_mels, std::string_view text);

/// Gives the tokens of a window's text the times of their marks, instead of those that the model attended to. One
/// without marks, as a space, has no length and is where the next one begins.
void set_times_of_keying(std::span<const float> mel, std::size_t n_mels, std::span<const std::string_view> tokens,
                         AlignAnswer& answer);

}  // namespace tutti
