#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/keying/morse_reading.h"
#include "audio/synth/morse_code.h"
#include "transcript/long_form.h"

namespace tutti {

// When the characters of a text were keyed, by the sound itself. All functions are pure: any thread may call them.
//
// Where the Morse code of a window was read (audio/keying/morse_reading.h), its marks are known. Of a model's text the
// marks and pauses are states that follow one another, and the Viterbi algorithm finds the frames at which
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
/// without marks, as a space, has no length and is where the next one begins. `times`: of each byte of all tokens.
void set_times_of_keying(std::span<const KeyDown> times, std::int64_t frames, std::span<const std::string_view> tokens,
                         AlignAnswer& answer);

/// What was read, as a model writes the text of a window: with a space before, or no text at all.
std::string text_of(const MorseReading& reading);

/// Times and probabilities of tokens whose bytes are text_of() what was read in a window of so many frames of 10 ms.
AlignAnswer aligned_reading(const MorseReading& reading, std::int64_t frames, std::span<const std::string_view> tokens);

}  // namespace tutti
