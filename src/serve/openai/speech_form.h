#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "serve/openai/api_error.h"
#include "transcribe/run.h"

namespace tutti {

/// What a transcript comes back as.
enum class SpeechFormat { json, text, srt, verbose_json, vtt, diarized_json };

/// The fields of one request for a transcript, read.
struct SpeechForm {
  std::string model{};
  SpeechOptions options{};
  SpeechFormat format = SpeechFormat::json;
  bool stream = false;
  bool segments = true;                // in verbose_json
  bool words = false;                  // likewise
  bool logprobs = false;               // of the text's tokens; only in json
  std::vector<std::string> ignored{};  // fields that this server does not know
};

/// Reads the fields of POST /v1/audio/transcriptions, or with `translate` of /v1/audio/translations. What they do not
/// say, or leave empty, is as in `usual`. Fields of other servers that mean something here count: hotwords, vad_filter,
/// beam_size, best_of, without_timestamps, seed. `-diarize` at the end of a model's name means diarized_json where no
/// format is named, and is left out of it. The error names the field.
tl::expected<SpeechForm, ApiError> read_speech_form(const std::vector<std::pair<std::string, std::string>>& fields,
                                                    const SpeechOptions& usual, bool translate);

}  // namespace tutti
