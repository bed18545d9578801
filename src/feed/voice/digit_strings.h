#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "feed/voice/voice_sources.h"

namespace tutti {

/// Which strings are made of recordings of single digits.
struct DigitStringOptions {
  std::int64_t count = 2000;  ///< strings of each speaker
  int least = 2;              ///< digits of a string
  int most = 8;
  std::uint64_t seed = 1234;
};

/// A string of digits by one speaker, before its audio is put together.
struct DigitString {
  std::string name{};
  std::string text{};  ///< "three five zero"
  std::string speaker{};
  std::vector<std::size_t> clips{};  ///< clips of the digits, in their order
  std::uint64_t key = 0;             ///< key of the draws of its pauses
};

/// Draws strings of the digits in `clips`, by the options' seed. No text twice for a speaker, and none of `excluded`;
/// where there are fewer texts, fewer strings.
std::vector<DigitString> draw_digit_strings(const std::vector<VoiceSource>& clips, const DigitStringOptions& options,
                                            const std::set<std::string>& excluded);

/// Puts a string together: pauses of 40 to 250 ms before, between and behind its digits. `digits`: their audio, without
/// silence at its ends, by number of the clip.
std::vector<float> join_digits(const DigitString& string, const std::map<std::size_t, std::vector<float>>& digits,
                               Hertz rate);

}  // namespace tutti
