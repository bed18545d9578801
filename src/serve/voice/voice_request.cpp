#include "serve/voice/voice_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Json = nlohmann::json;
using Read = tl::expected<void, ApiError>;

constexpr std::size_t kMostCharacters = 4096;  // OpenAI's limit
constexpr double kSlowest = 0.25, kFastest = 4;

constexpr std::array<std::pair<std::string_view, SpokenFormat>, 5> kFormats{{{"mp3", SpokenFormat::mp3},
                                                                             {"opus", SpokenFormat::opus},
                                                                             {"flac", SpokenFormat::flac},
                                                                             {"wav", SpokenFormat::wav},
                                                                             {"pcm", SpokenFormat::pcm}}};

constexpr std::array<std::string_view, 13> kOpenAiVoices{"alloy", "ash",  "ballad", "cedar", "coral",   "echo", "fable",
                                                         "marin", "nova", "onyx",   "sage",  "shimmer", "verse"};

tl::unexpected<ApiError> invalid(std::string_view member, const std::string& what) {
  return tl::unexpected<ApiError>({.message = std::string(member) + ": " + what, .param = std::string(member)});
}

tl::expected<std::string, ApiError> text_of(const Json& body, const char* member) {
  const auto found = body.find(member);
  if (found == body.end() || found->is_null()) return invalid(member, "it is required");
  if (!found->is_string()) return invalid(member, "expected a text");
  return found->get<std::string>();
}

/// A name, or an object with it, as OpenAI's API has either.
Read take_voice(VoiceRequest& request, const Json& body, const std::vector<std::string>& speakers) {
  const auto found = body.find("voice");
  const bool is_object = found != body.end() && found->is_object();
  const auto name = is_object ? text_of(*found, "id") : text_of(body, "voice");
  if (!name) return invalid("voice", "expected one of " + joined(speakers, ", ") + ", or a name of OpenAI's");
  if (std::ranges::find(speakers, *name) != speakers.end()) {
    request.speaker = *name;
    return {};
  }
  if (std::ranges::find(kOpenAiVoices, *name) != kOpenAiVoices.end()) return {};
  return invalid("voice", "'" + name->substr(0, 60) + "' is no speaker of the voice; it has " + joined(speakers, ", "));
}

Read take_format(VoiceRequest& request, const Json& body) {
  const auto found = body.find("response_format");
  if (found == body.end() || found->is_null()) return {};
  const auto known = std::ranges::find_if(kFormats, [&](const auto& format) { return *found == format.first; });
  if (known == kFormats.end()) return invalid("response_format", "expected mp3, opus, flac, wav or pcm");
  request.format = known->second;
  return {};
}

Read take_speed(VoiceRequest& request, const Json& body) {
  const auto found = body.find("speed");
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_number() || *found < kSlowest || *found > kFastest)
    return invalid("speed", "expected a number from 0.25 to 4");
  request.rate = found->get<double>();
  return {};
}

Read take_stream_format(const Json& body) {
  const auto found = body.find("stream_format");
  if (found == body.end() || found->is_null() || *found == "audio") return {};
  return invalid("stream_format", "expected audio: speech does not come as events here");
}

}  // namespace

std::string_view media_type(SpokenFormat format) {
  switch (format) {
    case SpokenFormat::mp3: return "audio/mpeg";
    case SpokenFormat::opus: return "audio/opus";
    case SpokenFormat::flac: return "audio/flac";
    case SpokenFormat::wav: return "audio/wav";
    case SpokenFormat::pcm: return "audio/pcm";
  }
  return "application/octet-stream";
}

tl::expected<VoiceRequest, ApiError> read_voice_request(std::string_view json,
                                                        const std::vector<std::string>& speakers) {
  const auto body = Json::parse(std::string(json), nullptr, /*allow_exceptions=*/false);
  if (!body.is_object()) return tl::unexpected<ApiError>({.message = "expected a JSON object as the body"});
  VoiceRequest request;
  auto model = text_of(body, "model"), text = text_of(body, "input");
  if (!model) return tl::unexpected(model.error());
  if (!text) return tl::unexpected(text.error());
  request.model = std::move(*model);
  request.text = std::move(*text);
  if (const auto characters = to_code_points(request.text).size(); characters > kMostCharacters)
    return invalid("input", "expected at most 4096 characters, found " + std::to_string(characters));
  for (const Read& taken : {take_voice(request, body, speakers), take_format(request, body), take_speed(request, body),
                            take_stream_format(body)})
    if (!taken) return tl::unexpected(taken.error());
  constexpr std::array<std::string_view, 6> kKnown{"model",           "input", "voice",
                                                   "response_format", "speed", "stream_format"};
  for (const auto& [name, value] : body.items())
    if (std::ranges::find(kKnown, name) == kKnown.end()) request.ignored.push_back(name.substr(0, 60));
  return request;
}

}  // namespace tutti
