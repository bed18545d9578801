#include "serve/openai/speech_answer.h"

#include <cmath>
#include <cstdint>
#include <span>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "serve/openai/api_error.h"
#include "text/languages.h"
#include "text/utf8.h"
#include "transcribe/events.h"
#include "transcript/writers.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// A probability that the vocabulary cannot tell is 0: clients expect a number.
double finite(double value) {
  return std::isfinite(value) ? value : 0;
}

/// As OpenAI counts: every second that was begun.
Json usage_of(Seconds duration) {
  return {{"type", "duration"}, {"seconds", static_cast<std::int64_t>(std::ceil(duration.count()))}};
}

std::string text_of(const Transcript& transcript) {
  return std::string(trimmed(transcript.text));
}

Json segments_of(const Transcript& transcript) {
  Json segments = Json::array();
  for (const Segment& segment : transcript.segments)
    segments.push_back({{"id", segment.id},
                        {"seek", segment.seek},
                        {"start", segment.start},
                        {"end", segment.end},
                        {"text", segment.text},
                        {"tokens", segment.tokens},
                        {"temperature", segment.temperature},
                        {"avg_logprob", finite(segment.avg_logprob)},
                        {"compression_ratio", finite(segment.compression_ratio)},
                        {"no_speech_prob", finite(segment.no_speech_prob)}});
  for (std::size_t i = 0; i < transcript.segments.size(); ++i)
    if (const std::string& speaker = transcript.segments[i].speaker; !speaker.empty()) segments[i]["speaker"] = speaker;
  return segments;
}

Json words_of(const Transcript& transcript) {
  Json words = Json::array();
  for (const Segment& segment : transcript.segments)
    for (const Word& word : segment.words)
      words.push_back({{"word", trimmed(word.word)}, {"start", word.start}, {"end", word.end}});
  return words;
}

/// "A", "B", … in the order of the speakers' numbers, as OpenAI has them; the names of known speakers stay.
std::string label_of(const std::string& speaker) {
  constexpr std::string_view kNumbered = "SPEAKER_";
  const auto number = speaker.starts_with(kNumbered)
                          ? number_in<std::size_t>(std::string_view(speaker).substr(kNumbered.size()))
                          : std::nullopt;
  if (!number) return speaker;
  constexpr std::size_t kAlphabet = 26;
  std::string label(1, static_cast<char>('A' + *number % kAlphabet));
  return *number < kAlphabet ? label : label + std::to_string(*number / kAlphabet);
}

Json speaker_segment(const Segment& segment) {
  return {{"type", "transcript.text.segment"},
          {"id", "seg_" + std::to_string(segment.id)},
          {"start", segment.start},
          {"end", segment.end},
          {"speaker", label_of(segment.speaker)},
          {"text", trimmed(segment.text)}};
}

/// Segments without text say nothing of a speaker.
Json speaker_segments(const Transcript& transcript) {
  Json segments = Json::array();
  for (const Segment& segment : transcript.segments)
    if (!trimmed(segment.text).empty()) segments.push_back(speaker_segment(segment));
  return segments;
}

/// The tokens of the text from the `first` on: the bytes of all are the text, with the blank it begins with. A token
/// with a part of a character has U+FFFD for it.
Json logprobs_of(std::span<const Segment> segments, std::size_t first = 0) {
  Json logprobs = Json::array();
  std::size_t at = 0;
  for (const Segment& segment : segments)
    for (const TextToken& token : segment.text_tokens) {
      if (at++ < first) continue;
      logprobs.push_back({{"token", replace_invalid_utf8(token.bytes)},
                          {"logprob", token.logprob},
                          {"bytes", std::vector<std::uint8_t>(token.bytes.begin(), token.bytes.end())}});
    }
  return logprobs;
}

/// The language of the text: a translation is English.
std::string language_of(const Transcript& transcript, const SpeechForm& form) {
  const bool translated = form.options.long_form.translate;
  return std::string(translated ? "english" : language_name(transcript.language).value_or(transcript.language));
}

/// Ends an object: what is known of the audio.
void add_audio(Json& json, const AudioFacts& audio) {
  json["usage"] = usage_of(audio.duration);
  if (!audio.losses.empty()) json["losses"] = audio.losses;
  if (!audio.notes.empty()) json["notes"] = audio.notes;
}

Json json_of(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form) {
  Json json{{"text", text_of(transcript)}};
  if (form.logprobs) json["logprobs"] = logprobs_of(transcript.segments);
  add_audio(json, audio);
  return json;
}

Json verbose_of(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form) {
  Json json{{"task", form.options.long_form.translate ? "translate" : "transcribe"},
            {"language", language_of(transcript, form)},
            {"duration", audio.duration.count()},
            {"text", text_of(transcript)}};
  if (form.segments) json["segments"] = segments_of(transcript);
  if (form.words) json["words"] = words_of(transcript);
  add_audio(json, audio);
  return json;
}

Json diarized_of(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form) {
  Json json{{"task", form.options.long_form.translate ? "translate" : "transcribe"},
            {"duration", audio.duration.count()},
            {"text", text_of(transcript)},
            {"segments", speaker_segments(transcript)}};
  add_audio(json, audio);
  return json;
}

Result<HttpAnswer> subtitle_answer(const Transcript& transcript, Format format, const char* type) {
  auto text = TRY(format_transcript(transcript, format));
  return HttpAnswer{.type = type, .body = std::move(text)};
}

std::string event(const Json& json) {
  return "data: " + json_line(json) + "\n\n";
}

Result<HttpAnswer> bare_answer(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form) {
  switch (form.format) {
    case SpeechFormat::json: return HttpAnswer{.body = json_line(json_of(transcript, audio, form))};
    case SpeechFormat::verbose_json: return HttpAnswer{.body = json_line(verbose_of(transcript, audio, form))};
    case SpeechFormat::diarized_json: return HttpAnswer{.body = json_line(diarized_of(transcript, audio, form))};
    case SpeechFormat::text: return HttpAnswer{.type = "text/plain; charset=utf-8", .body = text_of(transcript) + "\n"};
    case SpeechFormat::srt: return subtitle_answer(transcript, Format::srt, "text/plain; charset=utf-8");
    case SpeechFormat::vtt: return subtitle_answer(transcript, Format::vtt, "text/vtt; charset=utf-8");
  }
  return fail(Fault::internal, "a response_format without an answer");
}

}  // namespace

AudioFacts facts_of(const FileOutcome& outcome) {
  return {.duration = outcome.duration, .losses = outcome.losses, .notes = outcome.notes};
}

Result<HttpAnswer> speech_answer(const Transcript& transcript, const AudioFacts& audio, const SpeechForm& form) {
  auto answer = bare_answer(transcript, audio, form);
  if (answer) add_list_header(*answer, "x-tutti-losses", audio.losses, "; ");
  return answer;
}

std::string SpeechEvents::delta(const std::vector<Segment>& fresh) {
  std::string text;
  for (const Segment& segment : fresh) text += segment.text;
  if (sent_.empty()) text.erase(0, std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.empty() ? "" : delta_of(std::move(text), fresh, 0);
}

std::string SpeechEvents::delta_of(std::string text, std::span<const Segment> segments, std::size_t first_token) {
  sent_ += text;
  Json json{{"type", "transcript.text.delta"}, {"delta", std::move(text)}};
  if (form_.logprobs) {
    json["logprobs"] = logprobs_of(segments, first_token);
    tokens_sent_ += json["logprobs"].size();
  }
  return event(json);
}

std::string SpeechEvents::done(const Transcript& transcript, const AudioFacts& audio) {
  const std::string text = text_of(transcript);
  std::string events;
  if (text.size() > sent_.size() && text.starts_with(sent_))
    events = delta_of(text.substr(sent_.size()), transcript.segments, tokens_sent_);
  if (form_.format == SpeechFormat::diarized_json)
    for (const Json& segment : speaker_segments(transcript)) events += event(segment);
  Json json{{"type", "transcript.text.done"}, {"text", text}};
  if (form_.logprobs) json["logprobs"] = logprobs_of(transcript.segments);
  if (form_.format == SpeechFormat::verbose_json) json.update(verbose_of(transcript, audio, form_));
  add_audio(json, audio);
  return events + event(json);
}

}  // namespace tutti
