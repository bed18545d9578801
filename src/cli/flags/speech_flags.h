#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audio/vad/vad_options.h"
#include "base/error.h"
#include "link/decoding_options.h"
#include "settings/option_table.h"

namespace tutti {

// Flags that become SpeechOptions, for every command that transcribes: the search, and the speech that is transcribed.

/// Binds every field that has a flag to it. Names are openai-whisper's.
void add_search(OptionTable& table, DecodingOptions& decoding);

/// The error names the flag that is not valid.
Result<void> check_search(const DecodingOptions& decoding);

/// The parts of a file that are transcribed, in faster-whisper's names.
struct VadFlags {
  bool batched = false;
  bool vad = false;
  std::string method = "auto";
  std::optional<double> threshold{};
  std::optional<double> neg_threshold{};
  std::optional<std::int32_t> min_speech_duration_ms{};
  std::optional<double> max_speech_duration_s{};
  std::optional<std::int32_t> min_silence_duration_ms{};
  std::optional<std::int32_t> speech_pad_ms{};
  std::optional<double> target_hz{};
};

/// Binds every field to its flag.
void add_vad(OptionTable& table, VadFlags& flags);

/// None: everything is transcribed. Fault::usage names the flag that is not valid, alone or with `clips`. A model of
/// keyed sound (`is_keyed`) has its windows cut by keying, whether VAD was requested or not; by what else is named,
/// too.
Result<std::optional<VadOptions>> vad_options(const VadFlags& flags, const std::vector<double>& clips,
                                              bool is_keyed = false);

}  // namespace tutti
