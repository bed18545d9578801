#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "serve/openai/api_error.h"
#include "serve/openai/model_names.h"

namespace tutti {

/// What a client of /v1/realtime has set for its session.
struct RealtimeSettings {
  int rate = 24'000;          // of its samples, Hz
  std::string model{};        // by the name that it uses
  std::string language{};     // a code; empty: detected
  std::string prompt{};       // text that the model takes for what came before
  bool detects_turns = true;  // false: only commits complete an item

  /// The same audio, and text by the same rules.
  bool same_audio(const RealtimeSettings& other) const {
    return rate == other.rate && language == other.language && prompt == other.prompt;
  }
};

/// Takes what the `session` of a session.update names, in OpenAI's form or in that of its beta. An error: what is wrong
/// with it; then nothing is taken.
std::optional<ApiError> update_settings(RealtimeSettings& settings, const nlohmann::json& session,
                                        const ModelNames& models);

/// The session as session.created and session.updated show it.
nlohmann::ordered_json session_json(const RealtimeSettings& settings, const std::string& id);

/// A member of an object, or null.
const nlohmann::json& member_of(const nlohmann::json& object, const char* name);
/// The text of a value; empty: it is none.
std::string text_of(const nlohmann::json& value);

}  // namespace tutti
