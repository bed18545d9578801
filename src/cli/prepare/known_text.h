#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "transcript/transcript.h"

namespace tutti {

/// What somebody wrote down of a recording.
struct KnownText {
  std::filesystem::path file{};
  std::vector<Segment> timed{};  // with times; empty: only `plain` is known
  std::string plain{};
};

/// The text that lies beside a recording, or in `folder` if one is named: NAME.srt, NAME.vtt, NAME.json (a transcript
/// with segments) or NAME.txt, the first of them that is there; NAME with or without the recording's extension.
/// Fault::missing says what was looked for.
Result<KnownText> known_text(const std::filesystem::path& recording, const std::filesystem::path& folder);

/// Changes with the recording and its text: their sizes and times. Empty where one of them is not there.
std::string stamp_of_sources(const std::filesystem::path& recording, const std::filesystem::path& folder);

}  // namespace tutti
