#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// A corpus that a synthesiser reads, as a teacher of a voice.
struct VoiceFolder {
  std::filesystem::path out{};
  Seconds length{3600};                        ///< length of the speech, to one sentence
  std::vector<std::filesystem::path> texts{};  ///< read first: a sentence a line, or LJSpeech's lists
  std::filesystem::path exclude{};             ///< a text a line that is not read; empty: none
  std::uint64_t seed = 1;                      ///< seed of the sentences that are made up
};

/// What was written.
struct VoiceFolderReport {
  std::int64_t clips = 0;
  std::int64_t from_texts = 0;  ///< clips that read a given text; the others are made up
  std::int64_t excluded = 0;
  Seconds audio{};
  Seconds spent{};
};

/// Has flite's voice slt read sentences, in LJSpeech's layout: wavs/ID.wav (16 kHz), metadata.csv, phones.jsonl
/// (flite's phones with the second at which each ends), label.txt, which names the teacher. The same bytes for the same
/// options. Fault::usage where the folder holds a corpus already, Fault::missing without flite. `progress`: of the
/// length that is wanted; false ends it with Fault::cancelled.
Result<VoiceFolderReport> write_voice_folder(const VoiceFolder& wanted,
                                             const std::function<bool(Seconds, Seconds)>& progress);

}  // namespace tutti
