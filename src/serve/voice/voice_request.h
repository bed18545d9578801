#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "serve/openai/api_error.h"

namespace tutti {

/// What speech comes back as. pcm: samples of 16 bits at 24 kHz without a header, as OpenAI's.
enum class SpokenFormat { mp3, opus, aac, flac, wav, pcm };

/// The media type of an answer in this format.
std::string_view media_type(SpokenFormat format);

/// A request for speech, read.
struct VoiceRequest {
  std::string model{};
  std::string text{};
  std::string speaker{};  // one of the voice's; empty: its default speaker
  SpokenFormat format = SpokenFormat::mp3;
  double rate = 1;                     // 2: twice as fast
  bool events = false;                 // the answer is a stream of events with the audio in them
  std::vector<std::string> ignored{};  // members that mean nothing here
};

/// Reads the JSON of POST /v1/audio/speech. `speakers`: the voice's. OpenAI's own names, such as "alloy", mean its
/// default speaker. The error names the member.
tl::expected<VoiceRequest, ApiError> read_voice_request(std::string_view json,
                                                        const std::vector<std::string>& speakers);

}  // namespace tutti
