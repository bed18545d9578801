#include "serve/openai/json_body.h"

#include <utility>

namespace tutti {

tl::expected<nlohmann::json, ApiError> read_json_object(std::string_view body) {
  using Json = nlohmann::json;
  std::string member;
  const auto note_member = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth == 1 && event == Json::parse_event_t::key) member = parsed.get<std::string>().substr(0, 60);
    return true;
  };
  try {
    auto json = Json::parse(body, note_member);
    if (json.is_object()) return tl::expected<Json, ApiError>(std::move(json));
  } catch (const Json::parse_error& failed) {
    if (std::string_view(failed.what()).find("surrogate") != std::string_view::npos)
      return tl::unexpected<ApiError>(
          {.message =
               (member.empty() ? "" : member + ": ") +
               "it has an unpaired surrogate (\\uD800 to \\uDFFF), which is half of a character; send both halves",
           .param = member});
  }
  return tl::unexpected<ApiError>({.message = "expected a JSON object as the body"});
}

tl::unexpected<ApiError> invalid_member(std::string_view member, const std::string& what) {
  return tl::unexpected<ApiError>({.message = std::string(member) + ": " + what, .param = std::string(member)});
}

tl::expected<std::string, ApiError> required_text(const nlohmann::json& object, const std::string& member) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return invalid_member(member, "it is required");
  if (!found->is_string()) return invalid_member(member, "expected a text");
  return found->get<std::string>();
}

}  // namespace tutti
