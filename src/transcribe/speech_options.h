#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/vad/vad_options.h"
#include "diarize/diarize_options.h"
#include "transcript/long_form_options.h"

namespace tutti {

class ReplacementList;

/// Sampling and suppression, the same for every window of a run.
struct DecodingOptions {
  std::int32_t best_of = 5;                       // samples when the temperature is above zero
  std::int32_t beam_size = 0;                     // beams at temperature zero; 0: the most probable token each time
  double patience = 1;                            // ends a search at beam_size * patience hypotheses, rounded
  double length_penalty = -1;                     // 0 to 1; negative: log-probability per token ranks
  std::vector<std::int32_t> suppress_tokens{-1};  // -1 means the non-speech tokens
  bool suppress_blank = true;
  bool timestamps = true;
  std::int32_t max_initial_timestamp = 50;  // steps of 0.02 s
  std::uint64_t seed = 0;
  bool token_logprobs = false;  // segments have the log-probability of every token of their text
};

/// What decides the transcript of one recording. A command has one for all its files; every request to a server has its
/// own.
struct SpeechOptions {
  AudioChoice audio{};              // which track and channel is decoded
  std::optional<VadOptions> vad{};  // only speech is transcribed; none: everything
  bool batched = false;             // needs VAD: independent chunks of speech instead of the reference's loop
  LongFormOptions long_form{};
  DecodingOptions decoding{};
  std::optional<DiarizeOptions> diarize{};                // who speaks is found, too
  std::shared_ptr<const ReplacementList> replacements{};  // texts that are written otherwise; null: none
};

}  // namespace tutti
