#include "serve/realtime/realtime_settings.h"

#include <string_view>
#include <utility>

#include "text/languages.h"

namespace tutti {
namespace {

using Json = nlohmann::json;
using Event = nlohmann::ordered_json;

constexpr int kSilence = 500;       // milliseconds in which a turn ends, as live text has it
constexpr std::size_t kShown = 40;  // bytes of a client's text in a message

ApiError invalid_setting(std::string param, const std::string& message) {
  return {.status = 400, .message = param + ": " + message, .param = param, .code = "invalid_value"};
}

std::optional<ApiError> take_format(RealtimeSettings& settings, const Json& session, const Json& input) {
  if (const Json& beta = member_of(session, "input_audio_format"); !beta.is_null() && beta != "pcm16")
    return invalid_setting("session.input_audio_format", "expected pcm16");
  const Json& format = member_of(input, "format");
  if (format.is_null()) return std::nullopt;
  if (text_of(member_of(format, "type")) != "audio/pcm")
    return invalid_setting("session.audio.input.format.type", "expected audio/pcm: 16 bits, one channel");
  const Json& rate = member_of(format, "rate");
  if (rate.is_null()) return std::nullopt;
  if (rate != 24'000 && rate != 16'000)
    return invalid_setting("session.audio.input.format.rate",
                           "expected 24000 or 16000, found " + rate.dump().substr(0, kShown));
  settings.rate = rate.get<int>();
  return std::nullopt;
}

std::optional<ApiError> take_transcription(RealtimeSettings& settings, const Json& transcription,
                                           const ModelNames& models, const std::string& path) {
  if (transcription.is_null()) return std::nullopt;
  if (!transcription.is_object()) return invalid_setting(path, "expected an object");
  if (const std::string model = text_of(member_of(transcription, "model")); !model.empty()) {
    if (!models.contains(model)) {
      ApiError missing = models.missing(model);
      missing.param = path + ".model";
      return missing;
    }
    settings.model = model;
  }
  if (const std::string language = text_of(member_of(transcription, "language")); !language.empty()) {
    auto code = to_language_code(language);
    if (!code) code = language_of_tag(language);
    if (!code)
      return invalid_setting(path + ".language", "expected a code of a language such as en or de, found '" +
                                                     language.substr(0, kShown) + "'");
    settings.language = std::string(*code);
  }
  if (const Json& prompt = member_of(transcription, "prompt"); !prompt.is_null()) settings.prompt = text_of(prompt);
  return std::nullopt;
}

std::optional<ApiError> take_turns(RealtimeSettings& settings, const Json& object, const std::string& path) {
  if (!object.is_object() || !object.contains("turn_detection")) return std::nullopt;
  const Json& turns = object["turn_detection"];
  if (!turns.is_null() && text_of(member_of(turns, "type")) != "server_vad")
    return invalid_setting(path + ".turn_detection.type",
                           "expected server_vad, or a turn_detection of null for commits alone");
  settings.detects_turns = !turns.is_null();
  return std::nullopt;
}

}  // namespace

const Json& member_of(const Json& object, const char* name) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<ApiError> update_settings(RealtimeSettings& settings, const Json& session, const ModelNames& models) {
  if (!session.is_object()) return invalid_setting("session", "expected an object");
  if (const Json& type = member_of(session, "type"); !type.is_null() && type != "transcription")
    return invalid_setting("session.type", "expected transcription: this server has no other sessions");
  RealtimeSettings changed = settings;
  const Json& input = member_of(member_of(session, "audio"), "input");
  if (auto error = take_format(changed, session, input)) return error;
  if (auto error =
          take_transcription(changed, member_of(input, "transcription"), models, "session.audio.input.transcription"))
    return error;
  if (auto error = take_transcription(changed, member_of(session, "input_audio_transcription"), models,
                                      "session.input_audio_transcription"))
    return error;
  if (auto error = take_turns(changed, input, "session.audio.input")) return error;
  if (auto error = take_turns(changed, session, "session")) return error;
  settings = std::move(changed);
  return std::nullopt;
}

Event session_json(const RealtimeSettings& settings, const std::string& id) {
  const Event language = settings.language.empty() ? Event() : Event(settings.language);
  Event turns;
  if (settings.detects_turns) turns = {{"type", "server_vad"}, {"silence_duration_ms", kSilence}};
  return {{"type", "transcription"},
          {"object", "realtime.transcription_session"},
          {"id", "sess_" + id},
          {"audio",
           {{"input",
             {{"format", {{"type", "audio/pcm"}, {"rate", settings.rate}}},
              {"transcription", {{"model", settings.model}, {"language", language}, {"prompt", settings.prompt}}},
              {"turn_detection", turns}}}}}};
}

}  // namespace tutti
