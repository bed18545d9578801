#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "serve/http/http.h"
#include "serve/openai/speech_form.h"
#include "transcript/transcript.h"

namespace tutti {

/// The transcript in the form that was requested. An error: subtitles whose times cannot be written.
Result<HttpAnswer> speech_answer(const Transcript& transcript, Seconds duration, const SpeechForm& form);

/// The events of a streamed transcript: the deltas of its text, in order, then the whole of it. The deltas one after
/// the other are the whole text.
class SpeechEvents {
 public:
  explicit SpeechEvents(const SpeechForm& form) : form_(form) {}

  /// Text of new segments; empty: they have none.
  std::string delta(const std::vector<Segment>& fresh);
  /// What a last delta has to add, if anything, and the end.
  std::string done(const Transcript& transcript, Seconds duration);

 private:
  std::string delta_of(std::string text);

  const SpeechForm& form_;
  std::string sent_{};
};

}  // namespace tutti
