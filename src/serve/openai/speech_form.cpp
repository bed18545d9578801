#include "serve/openai/speech_form.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "text/languages.h"
#include "text/utf8.h"
#include "transcript/fallback.h"
#include "transcript/long_form.h"

namespace tutti {
namespace {

constexpr double kFallbackStep = 0.2;  // openai-whisper's, and the command line's

using Read = tl::expected<void, ApiError>;

tl::unexpected<ApiError> invalid(std::string_view field, std::string what, std::string code = {}) {
  return tl::unexpected<ApiError>({.status = 400,
                                   .message = std::string(field) + ": " + std::move(what),
                                   .param = std::string(field),
                                   .code = std::move(code)});
}

template <class T>
tl::expected<T, ApiError> number(std::string_view field, std::string_view text, T least, T most) {
  if (const auto value = number_in<T>(trimmed(text)); value && *value >= least && *value <= most) return *value;
  return invalid(field, "expected a number from " + number_text(static_cast<double>(least)) + " to " +
                            number_text(static_cast<double>(most)) + ", found '" + std::string(text.substr(0, 40)) +
                            "'");
}

tl::expected<bool, ApiError> truth(std::string_view field, std::string_view text) {
  const std::string word = ascii_lower(trimmed(text));
  if (word == "true" || word == "1") return true;
  if (word == "false" || word == "0" || word.empty()) return false;
  return invalid(field, "expected true or false, found '" + word.substr(0, 40) + "'");
}

/// Reads fields one after the other. A field that needs others too is settled at the end.
class Reader {
 public:
  Reader(const SpeechOptions& usual, bool translate) {
    form_.options = usual;
    if (translate) form_.options.long_form.translate = true;
  }

  Read take(const std::string& name, const std::string& text);
  tl::expected<SpeechForm, ApiError> finish();

 private:
  using Take = Read (Reader::*)(const std::string&);
  static const std::map<std::string, Take, std::less<>>& fields();

  Read model(const std::string& text);
  Read language(const std::string& text);
  Read prompt(const std::string& text);
  Read format(const std::string& text);
  Read temperature(const std::string& text);
  Read granularity(const std::string& text);
  Read stream(const std::string& text);
  Read include(const std::string& text);
  Read chunking(const std::string& text);
  Read keyword(const std::string& text);
  Read vad_filter(const std::string& text);
  Read beam_size(const std::string& text);
  Read best_of(const std::string& text);
  Read without_timestamps(const std::string& text);
  Read seed(const std::string& text);
  Read pad(const std::string& text);
  Read pad_margin(const std::string& text);
  Read speakers(const std::string& text);
  Read server_vad(std::string_view key, const std::string& text);

  SpeechForm form_{};
  std::string granularities_field_{};
  bool segments_named_ = false;
  std::size_t languages_ = 0;
};

const std::map<std::string, Reader::Take, std::less<>>& Reader::fields() {
  static const std::map<std::string, Take, std::less<>> table{
      {"model", &Reader::model},
      {"language", &Reader::language},
      {"languages", &Reader::language},
      {"prompt", &Reader::prompt},
      {"response_format", &Reader::format},
      {"temperature", &Reader::temperature},
      {"timestamp_granularities", &Reader::granularity},
      {"stream", &Reader::stream},
      {"include", &Reader::include},
      {"chunking_strategy", &Reader::chunking},
      {"keywords", &Reader::keyword},
      {"hotwords", &Reader::keyword},
      {"vad_filter", &Reader::vad_filter},
      {"beam_size", &Reader::beam_size},
      {"best_of", &Reader::best_of},
      {"without_timestamps", &Reader::without_timestamps},
      {"seed", &Reader::seed},
      {"pad", &Reader::pad},
      {"pad_margin", &Reader::pad_margin},
      {"known_speaker_names", &Reader::speakers},
      {"known_speaker_references", &Reader::speakers},
  };
  return table;
}

Read Reader::take(const std::string& name, const std::string& text) {
  std::string_view key = name;
  if (key.starts_with("chunking_strategy[") && key.ends_with("]"))
    return server_vad(key.substr(18, key.size() - 19), text);
  if (key.ends_with("[]")) key.remove_suffix(2);
  const auto found = fields().find(key);
  if (found != fields().end()) return (this->*found->second)(text);
  form_.ignored.push_back(name.substr(0, 60));
  return {};
}

Read Reader::model(const std::string& text) {
  form_.model = trimmed(text);
  return {};
}

Read Reader::language(const std::string& text) {
  const std::string name(trimmed(text));
  if (name.empty() || ascii_lower(name) == "auto") return {};
  auto code = to_language_code(name);
  if (!code) code = language_of_tag(name);
  if (!code)
    return invalid("language",
                   "'" + name.substr(0, 40) + "' is no language that Whisper knows; give a code such as en or de",
                   "invalid_language_format");
  if (++languages_ > 1 && form_.options.long_form.language != std::string(*code))
    return invalid("languages", "several were given; give one, or none to have it detected");
  form_.options.long_form.language = std::string(*code);
  return {};
}

Read Reader::prompt(const std::string& text) {
  form_.options.long_form.initial_prompt = text;
  return {};
}

Read Reader::format(const std::string& text) {
  static const std::map<std::string, SpeechFormat, std::less<>> formats{{"json", SpeechFormat::json},
                                                                        {"text", SpeechFormat::text},
                                                                        {"srt", SpeechFormat::srt},
                                                                        {"verbose_json", SpeechFormat::verbose_json},
                                                                        {"vtt", SpeechFormat::vtt}};
  const std::string name(trimmed(text));
  if (const auto found = formats.find(name); found != formats.end()) {
    form_.format = found->second;
    return {};
  }
  if (name == "diarized_json")
    return invalid("response_format",
                   "this server does not separate speakers, so there is no diarized_json; take "
                   "verbose_json for segments with their times");
  return invalid("response_format",
                 "expected json, text, srt, verbose_json or vtt, found '" + name.substr(0, 40) + "'");
}

Read Reader::temperature(const std::string& text) {
  const auto value = number<double>("temperature", text, 0, 1);
  if (!value) return tl::unexpected(value.error());
  if (*value > 0 && *value < kLeastTemperature) return invalid("temperature", "expected 0, or 0.001 to 1");
  auto temperatures = fallback_temperatures(*value, kFallbackStep);
  if (!temperatures) return invalid("temperature", temperatures.error().what);
  if (*value != form_.options.long_form.temperatures.front())
    form_.options.long_form.temperatures = std::move(*temperatures);
  return {};
}

Read Reader::granularity(const std::string& text) {
  const std::string name(trimmed(text));
  if (name != "word" && name != "segment")
    return invalid("timestamp_granularities", "expected word or segment, found '" + name.substr(0, 40) + "'");
  granularities_field_ = "timestamp_granularities";
  segments_named_ |= name == "segment";
  form_.words |= name == "word";
  return {};
}

Read Reader::stream(const std::string& text) {
  const auto value = truth("stream", text);
  if (!value) return tl::unexpected(value.error());
  form_.stream = *value;
  return {};
}

Read Reader::include(const std::string& text) {
  const auto name = trimmed(text);
  if (name.empty()) return {};
  if (name != "logprobs")
    return invalid("include", "expected logprobs, found '" + std::string(name.substr(0, 40)) + "'");
  form_.logprobs = form_.options.decoding.token_logprobs = true;
  return {};
}

Read Reader::chunking(const std::string& text) {
  const auto strategy = trimmed(text);
  if (strategy.empty()) return {};
  if (!form_.options.vad) form_.options.vad.emplace();
  if (strategy == "auto") return {};
  const auto json = nlohmann::json::parse(std::string(strategy), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return invalid("chunking_strategy", "expected auto, or an object of type server_vad");
  for (const auto& [key, value] : json.items())
    if (auto taken = server_vad(key, value.is_string() ? value.get<std::string>() : value.dump()); !taken) return taken;
  return {};
}

Read Reader::server_vad(std::string_view key, const std::string& text) {
  if (!form_.options.vad) form_.options.vad.emplace();
  constexpr std::int32_t kMostMs = 60000;
  if (key == "type") {
    if (text == "server_vad") return {};
    return invalid("chunking_strategy", "expected the type server_vad, found '" + text.substr(0, 40) + "'");
  }
  if (key == "threshold") {
    const auto value = number<double>("chunking_strategy[threshold]", text, 0.01, 0.99);
    if (!value) return tl::unexpected(value.error());
    form_.options.vad->threshold = *value;
    return {};
  }
  if (key != "prefix_padding_ms" && key != "silence_duration_ms") {
    form_.ignored.push_back("chunking_strategy[" + std::string(key.substr(0, 40)) + "]");
    return {};
  }
  const auto value = number<std::int32_t>("chunking_strategy[" + std::string(key) + "]", text, 0, kMostMs);
  if (!value) return tl::unexpected(value.error());
  (key == "prefix_padding_ms" ? form_.options.vad->speech_pad_ms : form_.options.vad->min_silence_duration_ms) = *value;
  return {};
}

Read Reader::keyword(const std::string& text) {
  std::string& words = form_.options.long_form.hot_words;
  if (trimmed(text).empty()) return {};
  words += (words.empty() ? "" : ", ") + std::string(trimmed(text));
  return {};
}

Read Reader::vad_filter(const std::string& text) {
  const auto value = truth("vad_filter", text);
  if (!value) return tl::unexpected(value.error());
  if (!*value) form_.options.vad.reset();
  if (*value && !form_.options.vad) form_.options.vad.emplace();
  return {};
}

Read Reader::beam_size(const std::string& text) {
  const auto value = number<std::int32_t>("beam_size", text, 1, kMostBeams);
  if (!value) return tl::unexpected(value.error());
  form_.options.decoding.beam_size = *value;
  return {};
}

Read Reader::best_of(const std::string& text) {
  const auto value = number<std::int32_t>("best_of", text, 1, kMostBeams);
  if (!value) return tl::unexpected(value.error());
  form_.options.decoding.best_of = *value;
  return {};
}

Read Reader::without_timestamps(const std::string& text) {
  const auto value = truth("without_timestamps", text);
  if (!value) return tl::unexpected(value.error());
  form_.options.long_form.without_timestamps = *value;
  form_.options.decoding.timestamps = !*value;
  return {};
}

Read Reader::seed(const std::string& text) {
  const auto value = number<std::uint64_t>("seed", text, 0, std::numeric_limits<std::uint64_t>::max());
  if (!value) return tl::unexpected(value.error());
  form_.options.decoding.seed = *value;
  return {};
}

Read Reader::pad(const std::string& text) {
  const auto name = trimmed(text);
  auto& margin = form_.options.decoding.pad_margin;
  if (name == "window")
    margin.reset();
  else if (name == "exact")
    margin = margin.value_or(kUsualPadMargin);
  else
    return invalid("pad", "expected window or exact, found '" + std::string(name.substr(0, 40)) + "'");
  return {};
}

/// Says that padding is exact, too.
Read Reader::pad_margin(const std::string& text) {
  const auto value = number<double>("pad_margin", text, 0, kMostPadMargin.count());
  if (!value) return tl::unexpected(value.error());
  form_.options.decoding.pad_margin = Seconds(*value);
  return {};
}

Read Reader::speakers(const std::string& text) {
  if (trimmed(text).empty()) return {};
  return invalid("known_speaker_names", "this server does not separate speakers");
}

tl::expected<SpeechForm, ApiError> Reader::finish() {
  if (form_.model.empty()) return invalid("model", "it is required; GET /v1/models lists what is loaded");
  const bool verbose = form_.format == SpeechFormat::verbose_json;
  if (!granularities_field_.empty() && !verbose)
    return invalid(granularities_field_, "expected only with response_format=verbose_json");
  if (form_.stream && (form_.format == SpeechFormat::srt || form_.format == SpeechFormat::vtt))
    return invalid("stream", "subtitles do not come in pieces; take response_format=json, text or verbose_json");
  if (form_.logprobs && form_.format != SpeechFormat::json)
    return invalid("include",
                   "logprobs come only with response_format=json; verbose_json has avg_logprob for every segment");
  form_.segments = segments_named_ || !form_.words;
  if (form_.words) form_.options.long_form.words = form_.options.long_form.words.value_or(WordRules{});
  if (form_.options.vad)
    if (auto valid = check(*form_.options.vad); !valid) return invalid("chunking_strategy", valid.error().what);
  return std::move(form_);
}

}  // namespace

tl::expected<SpeechForm, ApiError> read_speech_form(const std::vector<std::pair<std::string, std::string>>& fields,
                                                    const SpeechOptions& usual, bool translate) {
  Reader reader(usual, translate);
  for (const auto& [name, text] : fields) {
    if (!is_utf8(text)) return invalid(name, "expected text in UTF-8");
    if (auto taken = reader.take(name, text); !taken) return tl::unexpected(taken.error());
  }
  return reader.finish();
}

}  // namespace tutti
