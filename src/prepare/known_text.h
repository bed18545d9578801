#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "transcript/reference_text/subtitle_reader.h"
#include "transcript/transcript.h"

namespace tutti {

/// The written text of a recording, as far as it is spoken: without descriptions of sounds and speakers
/// (transcript/reference_text/caption_text.h).
struct KnownText {
  std::filesystem::path file{};
  std::vector<Segment> timed{};          // with times; empty: only `plain` is known
  std::vector<UnusableText> unusable{};  // timed texts left out: with nothing spoken, or with times that cannot be
  std::string plain{};
};

/// A row of a table that names a recording.
struct TextRow {
  std::string text{};
  std::optional<double> start{};  // seconds in the recording
  std::optional<double> end{};
};

/// The text of a recording that a table's rows hold: with times where all have them, else the whole text in one row.
Result<KnownText> text_of_rows(const std::vector<TextRow>& rows);

/// The text that is beside a recording, or in `folder` if one is named: NAME.srt, NAME.vtt, NAME.json (a transcript
/// with segments) or NAME.txt, the first of them that is there; NAME with or without the recording's extension.
/// Fault::missing names what was looked for.
Result<KnownText> known_text(const std::filesystem::path& recording, const std::filesystem::path& folder);

/// Changes with the recording and its text: their sizes and times. Empty where one of them is not there.
std::string stamp_of_sources(const std::filesystem::path& recording, const std::filesystem::path& folder);
/// The recording's part of it.
std::string stamp_of_recording(const std::filesystem::path& recording);

}  // namespace tutti
