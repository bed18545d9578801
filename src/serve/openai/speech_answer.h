#pragma once

#include <cstddef>
#include <span>
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
  /// With the log-probabilities of the segments' tokens from `first_token` on, where the form requests them.
  std::string delta_of(std::string text, std::span<const Segment> segments, std::size_t first_token);

  const SpeechForm& form_;
  std::string sent_{};
  std::size_t tokens_sent_ = 0;
};

}  // namespace tutti
