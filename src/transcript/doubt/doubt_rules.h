#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transcript/doubt/doubt.h"

namespace tutti {

// One question of find_doubts each; all are pure and answer in the order of time.

/// What is reviewed, and by which limits.
struct ReviewedTranscript {
  const Transcript& transcript;
  const std::optional<std::vector<SpeechSegment>>& speech;
  const DoubtLimits& limits;
};

/// Words, or characters where none are written, that follow themselves again and again, across segments.
std::vector<Doubt> find_loops(const ReviewedTranscript& it);
/// Text for which no speech was detected; without a detector, what the model itself took for silence.
std::vector<Doubt> find_invented(const ReviewedTranscript& it);
/// Speech without any text, and long speech with next to none.
std::vector<Doubt> find_gaps(const ReviewedTranscript& it);
/// More characters than a speaker can pronounce.
std::vector<Doubt> find_fast(const ReviewedTranscript& it);
/// Another script than the language's, or another language's small words.
std::vector<Doubt> find_language_flips(const ReviewedTranscript& it);
/// The model's own numbers: log-probability, compression, temperature.
std::vector<Doubt> find_low_numbers(const ReviewedTranscript& it);

/// Seconds of [start, end) in which speech was detected.
double speech_within(const std::vector<SpeechSegment>& speech, double start, double end);

struct LetterCount {
  std::size_t letters = 0;  // digits included
  double fastest = 0;       // seconds that the fastest speakers need for them
};
LetterCount letters_of(const std::string& text);

/// Has it any alphabetic character or digit?
bool has_words(const Segment& segment);

/// The text of segments [first, last), shortened for people.
std::string excerpt_of(const std::vector<Segment>& segments, std::size_t first, std::size_t last);
std::string shortened(std::string_view text);

/// "2.4": one decimal.
std::string tenths(double value);

/// Is the whole text one that Whisper models are known to say to silence (subtitlers' credits, farewells of videos)?
/// People say most of these, too: evidence beside other evidence, never proof.
bool is_phantom(std::string_view text);

/// How many of a text's words are small words (articles, pronouns, prepositions) of a language.
struct SmallWordCount {
  std::string_view language;  // code
  std::size_t hits = 0;
};

/// One entry per language that has a list, in a fixed order. `words` in lower case.
std::vector<SmallWordCount> count_small_words(const std::vector<std::u32string_view>& words);

}  // namespace tutti
