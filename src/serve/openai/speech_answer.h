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

struct FileOutcome;

/// What is known of a recording beside its text.
struct AudioFacts {
  Seconds duration{};
  std::vector<std::string> losses{};  // what damage in it cost, one sentence each
  std::vector<std::string> notes{};   // what was chosen of it (track, channel), and how it is laid out
};

AudioFacts facts_of(const FileOutcome& outcome);

/// The transcript in the form that was requested. Where audio is missing, the header x-tutti-losses has it in any form,
/// and JSON has the members "losses" and "notes". An error: subtitles whose times cannot be written.
Result<HttpAnswer> speech_answer(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form);

/// The events of a streamed transcript: the deltas of its text, in order, then the whole of it. The deltas one after
/// the other are the whole text.
class SpeechEvents {
 public:
  explicit SpeechEvents(const SpeechForm& form) : form_(form) {}

  /// Text of new segments; empty: they have none.
  std::string delta(const std::vector<Segment>& fresh);
  /// What a last delta has to add, if anything, and the end.
  std::string done(const Transcript& transcript, const AudioFacts& audio);

 private:
  /// With the log-probabilities of the segments' tokens from `first_token` on, where the form requests them.
  std::string delta_of(std::string text, std::span<const Segment> segments, std::size_t first_token);

  const SpeechForm& form_;
  std::string sent_{};
  std::size_t tokens_sent_ = 0;
};

}  // namespace tutti
