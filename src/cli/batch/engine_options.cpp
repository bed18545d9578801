#include "cli/batch/engine_options.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

template <class T>
Json json_of(const T& value) {
  return value;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

using NamedValues = std::vector<std::pair<std::string, Json>>;

/// Options that every window is transcribed by, with their values. Some of DecodingOptions have no flag.
NamedValues window_options(const TranscribeCommand& c) {
  NamedValues all{{"task", c.task},
                  {"temperature", c.temperature},
                  {"temperature-increment-on-fallback", json_of(c.temperature_increment_on_fallback)}};
  const auto add = [&](const auto& field) {
    all.emplace_back(with_hyphens(field.first), json_of(c.decoding.*field.second));
  };
  std::apply([&](const auto&... fields) { (add(fields), ...); }, kDecodingFields);
  const NamedValues others{{"initial-prompt", json_of(c.initial_prompt)},
                           {"carry-initial-prompt", c.carry_initial_prompt},
                           {"condition-on-previous-text", c.condition_on_previous_text},
                           {"compression-ratio-threshold", json_of(c.compression_ratio_threshold)},
                           {"logprob-threshold", json_of(c.logprob_threshold)},
                           {"no-speech-threshold", json_of(c.no_speech_threshold)},
                           {"without-timestamps", c.without_timestamps},
                           {"hotwords", json_of(c.hotwords)},
                           {"prefix", json_of(c.prefix)},
                           {"word-timestamps", c.word_timestamps},
                           {"prepend-punctuations", c.prepend_punctuations},
                           {"append-punctuations", c.append_punctuations},
                           {"hallucination-silence-threshold", json_of(c.hallucination_silence_threshold)}};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

/// Options that reach the engine in other fields of its messages, with the values that request nothing of it.
std::vector<std::pair<const char*, bool>> other_options(const TranscribeCommand& c) {
  return {{"model", c.model.empty()},
          {"compute-type", c.compute_type == "default"},
          {"fp16", c.fp16},
          {"batch-size", c.batch_size == "auto"},
          {"deterministic", !c.deterministic},
          {"language", !plain_language(c.language)},
          {"diarize", !c.diarize.diarize || c.diarize.from == "stereo"}};
}

std::string ability_of(std::string option) {
  std::ranges::replace(option, '-', '_');
  return option;
}

tl::unexpected<Error> not_taken(const std::string& option, const OtherEngine& engine) {
  return fail(Fault::usage, "--" + option + ": " + engine.name + " does not take this option",
              engine.abilities.empty() ? "It takes none" : "It takes " + joined(engine.abilities, ", "));
}

/// A switch that is off, None, or the usual task.
bool requests_nothing(const Json& value) {
  return value.is_null() || value == false || value == "transcribe";
}

}  // namespace

Result<OtherEngine> other_engine(const std::string& command, const TranscribeCommand& typed, bool sequential,
                                 OptionTable& table) {
  const bool is_whole = sequential || !typed.vad.batched;
  if (is_whole || !typed.model_dir.empty())
    return fail(Fault::usage, std::string(is_whole ? "--sequential" : "--model-dir") + " has no effect with --engine",
                is_whole ? "Such an engine gets windows of speech, each by itself"
                         : "Such an engine finds its models by itself; name a path with --model");
  auto engine = meet_engine(command);
  if (!engine) {
    Error error = engine.error();
    error.what = "--engine: " + error.what;
    return tl::unexpected(std::move(error));
  }
  for (const auto& [option, is_unset] : other_options(typed))
    if (!is_unset && !engine->can(ability_of(option))) return not_taken(option, *engine);
  TranscribeCommand speech = typed;
  const auto words = TRY(hot_words(speech));
  if (!words.empty()) speech.hotwords = words;
  const bool has_word_file = !speech.hotwords_file.empty();
  Json requested = Json::object();
  for (const auto& [option, value] : window_options(speech)) {
    const bool is_given = has_word_file && option == "hotwords";
    if (!is_given && table.given_by(option) == SourceKind::standard) continue;
    const std::string ability = ability_of(option);
    if (engine->can(ability))
      requested[ability] = value;
    else if (!requests_nothing(value))
      return not_taken(option, *engine);
  }
  engine->options = json_line(requested);
  return engine;
}

}  // namespace tutti
