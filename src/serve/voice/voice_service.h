#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "serve/openai/model_names.h"
#include "serve/voice/voice_request.h"
#include "text/speech/front_end.h"

namespace tutti {

/// What a request is answered with.
struct SpokenText {
  std::string audio{};                  ///< in the format that was requested
  std::vector<std::string> left_out{};  ///< what could not be read: characters, and sentences of such alone
};

/// A voice of `tutti train tts` that speaks for clients: `tutti-engine say`, a process for each request, so that none
/// harms another. Immutable; thread-safe.
class VoiceService {
 public:
  /// Fault::missing, or Fault::corrupt, for a folder that holds no voice.
  static Result<VoiceService> open(const std::filesystem::path& folder);

  /// What clients may call it: its folder's name, or a model of OpenAI's such as "tts-1".
  const ModelNames& names() const { return names_; }
  const std::vector<std::string>& speakers() const { return speakers_; }

  /// The text as audio in the format that was requested. Blocks; on a thread that outlives the process. `go_on`: false
  /// ends it. The error: 400 for a text that cannot be spoken.
  tl::expected<SpokenText, ApiError> speak(const VoiceRequest& request, const std::function<bool()>& go_on) const;

 private:
  VoiceService(std::filesystem::path folder, std::vector<std::string> speakers, Hertz rate, TextFrontEnd front_end);
  /// What cannot be read of a text, or why none of it can.
  tl::expected<std::vector<std::string>, ApiError> check_text(const std::string& text) const;

  std::filesystem::path folder_;
  ModelNames names_;
  std::vector<std::string> speakers_;
  Hertz rate_;
  TextFrontEnd front_end_;
};

}  // namespace tutti
