#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/source/dataset.h"
#include "feed/voice/voice_file.h"

namespace tutti {

/// A recording with its text, before anything of it is decoded.
struct VoiceSource {
  std::string id{};
  std::filesystem::path audio{};
  std::optional<FileRange> member{};  ///< the bytes of `audio` that are the recording, as of a tar; none: all
  std::string text{};
  std::string speaker{};
  std::optional<VoicePart> part{};  ///< where the data has parts of its own
  std::optional<double> start{};    ///< seconds within the file
  std::optional<double> end{};
  std::string problem{};    ///< why it cannot be used; empty: nothing is known against it
  bool is_missing = false;  ///< its problem: there is no such file
};

/// The recordings of a voice, in the order of the data.
struct VoiceSources {
  std::vector<VoiceSource> clips{};
  bool are_digits = false;  ///< single spoken digits, `{digit}_{speaker}_{take}.wav`: strings are made of them
};

/// Finds the recordings below `data`:
///  * a folder of single digits, `{digit}_{speaker}_{take}.wav` (Free Spoken Digit Dataset);
///  * VCTK: txt/SPEAKER/ID.txt with wav48/SPEAKER/ID.wav (or wav48_silence_trimmed/SPEAKER/ID_mic1.flac, or wav/);
///  * LJSpeech's layout, also in two lists, metadata_train.csv and metadata_eval.csv, which then are the parts;
///  * whatever else open_dataset reads (feed/source/dataset.h), with its speakers.
/// An id or a file such as p225_001 or s5_001 has its speaker in front. What is concluded of how a list is to be read
/// is logged as a warning. `speaker`: only that one's recordings; empty: all. Fault::missing where there is no such
/// data, Fault::usage, with those that there are, for an unknown speaker.
Result<VoiceSources> find_voice_sources(const std::filesystem::path& data, const std::string& speaker);

}  // namespace tutti
