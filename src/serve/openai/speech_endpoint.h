#pragma once

#include <memory>
#include <string>

#include "serve/http/form.h"
#include "serve/http/http.h"
#include "serve/openai/model_names.h"
#include "serve/realtime/live_sessions.h"
#include "transcribe/run.h"
#include "transcribe/service/speech_service.h"

namespace tutti {

/// What the requests for transcripts share. Outlives them.
struct SpeechEndpoint {
  SpeechService& service;
  const ModelNames& models;
  const SpeechOptions& usual;  // where a request has no field for it
  LiveSessions& sessions;      // of which an upload that comes no faster than it is spoken needs admission
  FormLimits limits{};
};

/// Takes the form of one request to /v1/audio/transcriptions, or with `translate` to /v1/audio/translations, has its
/// recording transcribed and answers in the form that was requested. A client that leaves ends the work. `client`:
/// whose turn the request waits for (FairQueue).
///
/// An HttpAnswer instead refuses a head that announces no form. Everything else is answered by the body, as it comes or
/// once it is complete: fields that are not valid, a recording that is too large, empty or not to be decoded.
tl::expected<std::unique_ptr<HttpBody>, HttpAnswer> speech_body(const SpeechEndpoint& endpoint, const HttpHead& head,
                                                                std::string client, bool translate);

}  // namespace tutti
