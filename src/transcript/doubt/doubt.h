#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/transcript.h"

namespace tutti {

// Where a finished transcript should be checked by ear. Whisper's faults are of few kinds, and most leave traces in its
// own numbers, in the text, or between the text and the detected speech.

/// Why a stretch is doubtful.
enum class DoubtKind {
  loop,        // the same words again and again
  invented,    // text where no speech was detected
  improbable,  // the model itself believed little of it
  language,    // another script or language than the rest
  gap,         // speech without text
  fast,        // more text than people speak in the time
  fallback,    // only a high temperature gave a text at all
};

struct Doubt {
  DoubtKind kind = DoubtKind::loop;
  double start = 0;  // seconds in the recording
  double end = 0;
  double severity = 0;    // 0..1: how likely it is that the text is wrong there; from 0.5 on worth an ear
  std::string reason;     // a sentence for people, with the numbers
  std::string excerpt{};  // excerpt of the text; empty for speech without text
};

/// A stretch in which a voice-activity detector found speech, seconds [start, end).
struct SpeechSegment {
  double start = 0;
  double end = 0;
};

/// What is believed. Defaults are the reference's where it has the same question.
struct DoubtLimits {
  double least_logprob = -1.0;    // below: improbable
  double most_compression = 2.4;  // above: repetitive
  double least_gap = 3.0;         // seconds of speech without text that count
  double time_slack = 0.6;        // seconds by which Whisper's times may be off
  double fallback_from = 0.2;     // temperatures from here on are worth a word
};

/// Findings over a transcript, the worst first. `speech` in order: where speech was detected in the whole recording.
/// None: no detector ran, and what needs it (gaps, invention) is left out or decided by the model's numbers alone.
/// Numbers missing from the transcript are 0 and raise no doubt. Pure; linear in the text.
std::vector<Doubt> find_doubts(const Transcript& transcript, const std::optional<std::vector<SpeechSegment>>& speech,
                               const DoubtLimits& limits = {});

/// How much a recording with these findings wants an ear, 0..1: the probability that at least one of them is right,
/// were they independent.
double doubtfulness(std::span<const Doubt> doubts);

/// "loop", "invented", ...
std::string_view name_of(DoubtKind kind);

}  // namespace tutti
