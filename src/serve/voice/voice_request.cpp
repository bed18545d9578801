#include "serve/voice/voice_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/strings.h"
#include "base/try.h"
#include "serve/openai/json_body.h"
#include "text/utf8.h"

namespace tutti {
namespace {

using Json = nlohmann::json;
using Read = tl::expected<void, ApiError>;

constexpr std::size_t kMostCharacters = 4096;  // OpenAI's limit
constexpr double kSlowest = 0.25, kFastest = 4;

constexpr std::array<std::pair<std::string_view, SpokenFormat>, 6> kFormats{{{"mp3", SpokenFormat::mp3},
                                                                             {"opus", SpokenFormat::opus},
                                                                             {"aac", SpokenFormat::aac},
                                                                             {"flac", SpokenFormat::flac},
                                                                             {"wav", SpokenFormat::wav},
                                                                             {"pcm", SpokenFormat::pcm}}};

constexpr std::array<std::string_view, 13> kOpenAiVoices{"alloy", "ash",  "ballad", "cedar", "coral",   "echo", "fable",
                                                         "marin", "nova", "onyx",   "sage",  "shimmer", "verse"};

/// A name, or an object with it, as OpenAI's API has either.
Read take_voice(VoiceRequest& request, const Json& body, const std::vector<std::string>& speakers) {
  const auto found = body.find("voice");
  const bool is_object = found != body.end() && found->is_object();
  const auto name = is_object ? required_text(*found, "id") : required_text(body, "voice");
  if (!name) return invalid_member("voice", "expected one of " + joined(speakers, ", ") + ", or a name of OpenAI's");
  if (std::ranges::find(speakers, *name) != speakers.end()) {
    request.speaker = *name;
    return {};
  }
  if (std::ranges::find(kOpenAiVoices, *name) != kOpenAiVoices.end()) return {};
  return invalid_member("voice",
                        "'" + name->substr(0, 60) + "' is no speaker of the voice; it has " + joined(speakers, ", "));
}

Read take_format(VoiceRequest& request, const Json& body) {
  const auto found = body.find("response_format");
  if (found == body.end() || found->is_null()) return {};
  const auto known = std::ranges::find_if(kFormats, [&](const auto& format) { return *found == format.first; });
  if (known == kFormats.end()) return invalid_member("response_format", "expected mp3, opus, aac, flac, wav or pcm");
  request.format = known->second;
  return {};
}

Read take_speed(VoiceRequest& request, const Json& body) {
  const auto found = body.find("speed");
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_number() || *found < kSlowest || *found > kFastest)
    return invalid_member("speed", "expected a number from 0.25 to 4");
  request.rate = found->get<double>();
  return {};
}

Read take_stream_format(VoiceRequest& request, const Json& body) {
  const auto found = body.find("stream_format");
  if (found == body.end() || found->is_null() || *found == "audio") return {};
  if (*found != "sse") return invalid_member("stream_format", "expected audio or sse");
  request.events = true;
  return {};
}

}  // namespace

std::string_view media_type(SpokenFormat format) {
  switch (format) {
    case SpokenFormat::mp3: return "audio/mpeg";
    case SpokenFormat::opus: return "audio/opus";
    case SpokenFormat::aac: return "audio/aac";
    case SpokenFormat::flac: return "audio/flac";
    case SpokenFormat::wav: return "audio/wav";
    case SpokenFormat::pcm: return "audio/pcm";
  }
  return "application/octet-stream";
}

tl::expected<VoiceRequest, ApiError> read_voice_request(std::string_view json,
                                                        const std::vector<std::string>& speakers) {
  const Json body = TRY(read_json_object(json));
  VoiceRequest request;
  request.model = TRY(required_text(body, "model"));
  request.text = TRY(required_text(body, "input"));
  if (const auto characters = to_code_points(request.text).size(); characters > kMostCharacters)
    return invalid_member("input", "expected at most 4096 characters, found " + std::to_string(characters));
  for (const Read& taken : {take_voice(request, body, speakers), take_format(request, body), take_speed(request, body),
                            take_stream_format(request, body)})
    if (!taken) return tl::unexpected(taken.error());
  constexpr std::array<std::string_view, 6> kKnown{"model",           "input", "voice",
                                                   "response_format", "speed", "stream_format"};
  for (const auto& [name, value] : body.items())
    if (std::ranges::find(kKnown, name) == kKnown.end()) request.ignored.push_back(name.substr(0, 60));
  return request;
}

}  // namespace tutti
