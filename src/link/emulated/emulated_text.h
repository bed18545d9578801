#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "link/emulated/emulated_part.h"

namespace tutti {

/// A number that represents a window's content: equal mels, equal numbers, on any device.
std::uint64_t content_of(std::span<const float> mel);

/// What an emulated card decodes from `frames` mel frames of that content: sentences at the rate of speech, with
/// timestamps around each where requested. A pure function, so that every device and every repetition gives the same.
std::vector<std::int32_t> emulated_text(const EmulatedSpeech& speech, std::uint64_t content, std::int32_t frames,
                                        bool timestamps, std::int32_t max_tokens);

}  // namespace tutti
