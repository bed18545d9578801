#pragma once

#include <memory>
#include <string>

#include "serve/http/form.h"
#include "serve/http/http.h"
#include "serve/openai/model_names.h"
#include "serve/speech/speech_service.h"
#include "transcribe/speech_options.h"

namespace tutti {

/// What the requests for transcripts share. Outlives them.
struct SpeechEndpoint {
  SpeechService& service;
  const ModelNames& models;
  const SpeechOptions& usual;  // where a request says nothing else
  FormLimits limits{};
};

/// Takes the form of one request to /v1/audio/transcriptions, or with `translate` to /v1/audio/translations, has its
/// recording transcribed and answers. A client that leaves ends the work.
tl::expected<std::unique_ptr<HttpBody>, HttpAnswer> speech_body(const SpeechEndpoint& endpoint, const HttpHead& head,
                                                                std::string client, bool translate);

}  // namespace tutti
