#include "link/emulated/emulated_part.h"

#include <functional>
#include <map>
#include <string_view>

#include "base/numbers.h"
#include "base/strings/joined.h"
#include "base/strings/split.h"

namespace tutti {
namespace {

template <class Number>
bool read(std::string_view text, Number& into) {
  const auto value = number_in<Number>(text);
  into = value.value_or(Number{});
  return value.has_value();
}

bool read(std::string_view text, Seconds& into) {
  const auto value = number_in<double>(text);
  into = Seconds(value.value_or(0));
  return value.has_value();
}

bool read(std::string_view text, std::string& into) {
  into = text;
  return true;
}

std::string ids_text(const std::vector<std::int32_t>& ids) {
  return joined(ids, ".", [](std::int32_t id) { return std::to_string(id); });
}

bool read(std::string_view text, std::vector<std::int32_t>& into) {
  into.clear();
  for (const auto part : split(text, '.'))
    if (!read(part, into.emplace_back())) return false;
  return true;
}

bool read(std::string_view text, std::vector<std::vector<std::int32_t>>& into) {
  into.clear();
  for (const auto word : split(text, ','))
    if (!read(word, into.emplace_back())) return false;
  return true;
}

bool read(std::string_view text, std::vector<EmulatedFailure>& into) {
  into.clear();
  for (const auto part : split(text, ',')) {
    auto failure = parse_failure(std::string(part));
    if (!failure) return false;
    into.push_back(*failure);
  }
  return true;
}

using Readers = std::map<std::string, std::function<bool(std::string_view)>, std::less<>>;

Readers readers_of(EmulatedPart& part) {
  const auto into = [](auto& field) { return [&field](std::string_view text) { return read(text, field); }; };
  EmulatedCard& card = part.card;
  EmulatedSpeech& speech = part.speech;
  return {{"build", into(part.build_id)},
          {"speed", into(card.speed)},
          {"memory", into(card.memory.value)},
          {"slots", into(card.slots)},
          {"jitter", into(card.jitter)},
          {"warm-up", into(card.warm_up)},
          {"time", into(card.time)},
          {"seed", into(card.seed)},
          {"born", into(card.born)},
          {"uuid", into(card.uuid)},
          {"failures", into(card.failures)},
          {"n-mels", into(speech.n_mels)},
          {"n-audio-ctx", into(speech.n_audio_ctx)},
          {"n-text-ctx", into(speech.n_text_ctx)},
          {"n-vocab", into(speech.n_vocab)},
          {"timestamp-begin", into(speech.timestamp_begin)},
          {"languages", into(speech.languages)},
          {"words", into(speech.words)},
          {"stop", into(speech.stop)}};
}

}  // namespace

std::vector<std::string> words_of(const EmulatedPart& part) {
  const EmulatedCard& card = part.card;
  const EmulatedSpeech& speech = part.speech;
  return {"build=" + part.build_id,
          "speed=" + number_text(card.speed),
          "memory=" + std::to_string(card.memory.value),
          "slots=" + std::to_string(card.slots),
          "jitter=" + number_text(card.jitter),
          "warm-up=" + number_text(card.warm_up.count()),
          "time=" + number_text(card.time),
          "seed=" + std::to_string(card.seed),
          "born=" + std::to_string(card.born),
          "uuid=" + card.uuid,
          "failures=" + joined(card.failures, ",", text_of),
          "n-mels=" + std::to_string(speech.n_mels),
          "n-audio-ctx=" + std::to_string(speech.n_audio_ctx),
          "n-text-ctx=" + std::to_string(speech.n_text_ctx),
          "n-vocab=" + std::to_string(speech.n_vocab),
          "timestamp-begin=" + std::to_string(speech.timestamp_begin),
          "languages=" + ids_text(speech.languages),
          "words=" + joined(speech.words, ",", ids_text),
          "stop=" + ids_text(speech.stop)};
}

Result<EmulatedPart> part_of(const std::vector<std::string>& words) {
  EmulatedPart part;
  const Readers readers = readers_of(part);
  for (const auto& word : words) {
    const auto equals = word.find('=');
    const auto reader = readers.find(word.substr(0, equals));
    if (equals == word.npos || reader == readers.end() || !reader->second(std::string_view(word).substr(equals + 1)))
      return fail(Fault::usage, "emulated-worker: '" + word.substr(0, 60) + "' is none of its arguments");
  }
  if (part.speech.words.empty()) return fail(Fault::usage, "emulated-worker: expected words=..., found none");
  return part;
}

}  // namespace tutti
