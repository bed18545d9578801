#include "serve/openai/speech_form.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>

#include "base/base64.h"
#include "base/files.h"
#include "base/json.h"
#include "base/new_file.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "hub/speaker_weights.h"
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

/// Whether a speaker without a name may be called so in diarized_json: one of A to Z, or that and a number.
bool may_be_label(std::string_view name) {
  return !name.empty() && name[0] >= 'A' && name[0] <= 'Z' &&
         std::ranges::all_of(name.substr(1), [](char c) { return c >= '0' && c <= '9'; });
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
  static bool is_list(std::string_view key);
  Read take_each(std::string_view key, Take read, const std::string& text);

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
  Read speaker_name(const std::string& text);
  Read speaker_reference(const std::string& text);
  Read settle_speakers();
  Read server_vad(std::string_view key, const std::string& text);

  SpeechForm form_{};
  bool segments_named_ = false;
  bool format_named_ = false;
  std::vector<std::string> speaker_names_{};
  std::vector<KnownSpeaker> speaker_clips_{};  // without their names
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
      {"known_speaker_names", &Reader::speaker_name},
      {"known_speaker_references", &Reader::speaker_reference},
  };
  return table;
}

Read Reader::take(const std::string& name, const std::string& text) {
  std::string_view key = name;
  if (key.starts_with("chunking_strategy[") && key.ends_with("]"))
    return server_vad(key.substr(18, key.size() - 19), text);
  if (key.ends_with("[]")) key.remove_suffix(2);
  if (const auto base = key.substr(0, key.find('[')); base != key && is_list(base))
    return invalid(name.substr(0, 60), "expected " + std::string(base) + "[], once for each element");
  const auto found = fields().find(key);
  if (found != fields().end()) return take_each(key, found->second, text);
  form_.ignored.push_back(name.substr(0, 60));
  return {};
}

bool Reader::is_list(std::string_view key) {
  return key == "timestamp_granularities" || key == "include" || key == "keywords" || key == "languages" ||
         key == "known_speaker_names" || key == "known_speaker_references";
}

/// Some clients send a list as one field with JSON in it.
Read Reader::take_each(std::string_view key, Take read, const std::string& text) {
  if (!is_list(key) || !trimmed(text).starts_with('[')) return (this->*read)(text);
  const auto list = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return (this->*read)(text);
  for (const auto& element : list) {
    if (!element.is_string()) return invalid(key, "expected a list of texts, found '" + text.substr(0, 40) + "'");
    if (auto taken = (this->*read)(element.get<std::string>()); !taken) return taken;
  }
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
  static const std::map<std::string, SpeechFormat, std::less<>> formats{
      {"json", SpeechFormat::json}, {"text", SpeechFormat::text},
      {"srt", SpeechFormat::srt},   {"verbose_json", SpeechFormat::verbose_json},
      {"vtt", SpeechFormat::vtt},   {"diarized_json", SpeechFormat::diarized_json}};
  const std::string name(trimmed(text));
  const auto found = formats.find(name);
  if (found == formats.end())
    return invalid("response_format",
                   "expected json, text, srt, verbose_json, vtt or diarized_json, found '" + name.substr(0, 40) + "'");
  form_.format = found->second;
  format_named_ = true;
  return {};
}

Read Reader::temperature(const std::string& text) {
  const auto value = TRY(number<double>("temperature", text, 0, 1));
  if (value > 0 && value < kLeastTemperature) return invalid("temperature", "expected 0, or 0.001 to 1");
  auto temperatures = fallback_temperatures(value, kFallbackStep);
  if (!temperatures) return invalid("temperature", temperatures.error().what);
  if (value != form_.options.long_form.temperatures.front())
    form_.options.long_form.temperatures = std::move(*temperatures);
  return {};
}

Read Reader::granularity(const std::string& text) {
  const std::string name(trimmed(text));
  if (name != "word" && name != "segment")
    return invalid("timestamp_granularities", "expected word or segment, found '" + name.substr(0, 40) + "'");
  segments_named_ |= name == "segment";
  form_.words |= name == "word";
  return {};
}

Read Reader::stream(const std::string& text) {
  form_.stream = TRY(truth("stream", text));
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
    const auto value = TRY(number<double>("chunking_strategy[threshold]", text, 0.01, 0.99));
    form_.options.vad->threshold = value;
    return {};
  }
  if (key != "prefix_padding_ms" && key != "silence_duration_ms") {
    form_.ignored.push_back("chunking_strategy[" + std::string(key.substr(0, 40)) + "]");
    return {};
  }
  const auto value = TRY(number<std::int32_t>("chunking_strategy[" + std::string(key) + "]", text, 0, kMostMs));
  (key == "prefix_padding_ms" ? form_.options.vad->speech_pad_ms : form_.options.vad->min_silence_duration_ms) = value;
  return {};
}

Read Reader::keyword(const std::string& text) {
  std::string& words = form_.options.long_form.hot_words;
  if (trimmed(text).empty()) return {};
  words += (words.empty() ? "" : ", ") + std::string(trimmed(text));
  return {};
}

Read Reader::vad_filter(const std::string& text) {
  const auto value = TRY(truth("vad_filter", text));
  if (!value) form_.options.vad.reset();
  if (value && !form_.options.vad) form_.options.vad.emplace();
  return {};
}

Read Reader::beam_size(const std::string& text) {
  const auto value = TRY(number<std::int32_t>("beam_size", text, 1, kMostBeams));
  form_.options.decoding.beam_size = value;
  return {};
}

Read Reader::best_of(const std::string& text) {
  const auto value = TRY(number<std::int32_t>("best_of", text, 1, kMostBeams));
  form_.options.decoding.best_of = value;
  return {};
}

Read Reader::without_timestamps(const std::string& text) {
  const auto value = TRY(truth("without_timestamps", text));
  form_.options.long_form.without_timestamps = value;
  form_.options.decoding.timestamps = !value;
  return {};
}

Read Reader::seed(const std::string& text) {
  form_.options.decoding.seed = TRY(number<std::uint64_t>("seed", text, 0, std::numeric_limits<std::uint64_t>::max()));
  return {};
}

Read Reader::speaker_name(const std::string& text) {
  if (!trimmed(text).empty()) speaker_names_.emplace_back(trimmed(text));
  return {};
}

/// A data URL, or its base64 alone: the clip becomes a file in memory.
Read Reader::speaker_reference(const std::string& text) {
  constexpr std::string_view kField = "known_speaker_references";
  std::string_view content = trimmed(text);
  if (content.empty()) return {};
  if (content.starts_with("data:")) content.remove_prefix(std::min(content.find(',') + 1, content.size()));
  const auto bytes = base64_decoded(content);
  if (!bytes || bytes->empty()) return invalid(kField, "expected a data URL: data:audio/wav;base64,...");
  OwnedFd file(::memfd_create("speaker", MFD_CLOEXEC));
  if (!file) return invalid(kField, "descriptors ran out");
  if (!write_all(file.get(), std::as_bytes(std::span(*bytes)), kField)) return invalid(kField, "memory ran out");
  const auto path = path_of_descriptor(file.get());
  speaker_clips_.push_back({.clip = path, .held = std::make_shared<const OwnedFd>(std::move(file))});
  return {};
}

/// What diarized_json needs: the networks, and the times of words, by whose speakers segments are split.
Read Reader::settle_speakers() {
  constexpr std::string_view kDiarize = "-diarize";
  if (form_.model.ends_with(kDiarize)) {
    form_.model.resize(form_.model.size() - kDiarize.size());
    if (!format_named_) form_.format = SpeechFormat::diarized_json;
  }
  if (speaker_names_.size() != speaker_clips_.size())
    return invalid("known_speaker_names", "expected as many as known_speaker_references, found " +
                                              std::to_string(speaker_names_.size()) + " and " +
                                              std::to_string(speaker_clips_.size()));
  auto& diarize = form_.options.diarize;
  if (form_.format != SpeechFormat::diarized_json && !diarize) {
    if (speaker_names_.empty()) return {};
    return invalid("known_speaker_names", "expected only with response_format=diarized_json");
  }
  if (!diarize) {
    auto weights = find_speaker_weights();
    if (!weights)
      return tl::unexpected<ApiError>({.status = 501,
                                       .message = weights.error().text(),
                                       .param = "response_format",
                                       .code = "no_speaker_networks"});
    diarize.emplace().weights = std::move(*weights);
  }
  for (std::size_t i = 0; i < speaker_names_.size(); ++i) {
    if (may_be_label(speaker_names_[i]))
      return invalid("known_speaker_names",
                     "expected other names than speakers without one get (A, B, …), found '" + speaker_names_[i] + "'");
    speaker_clips_[i].name = speaker_names_[i];
    diarize->known.push_back(std::move(speaker_clips_[i]));
  }
  form_.options.long_form.words = form_.options.long_form.words.value_or(WordRules{});
  return {};
}

tl::expected<SpeechForm, ApiError> Reader::finish() {
  TRY(settle_speakers());
  if (form_.model.empty()) return invalid("model", "it is required; GET /v1/models lists what is loaded");
  const bool verbose = form_.format == SpeechFormat::verbose_json;
  if (form_.words && !verbose)
    return invalid("timestamp_granularities", "expected word only with response_format=verbose_json");
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
    if (trimmed(text).empty()) continue;  // many clients send what they leave out as an empty field
    TRY(reader.take(name, text));
  }
  return reader.finish();
}

}  // namespace tutti
