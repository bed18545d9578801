#pragma once

#include <cstdint>
#include <filesystem>

#include "audio/synth/audio_file.h"
#include "audio/synth/morse_clip.h"

namespace tutti {

struct MorseFolder {
  MorseCorpus corpus{};
  std::int64_t count = 0;
  std::filesystem::path out{};
  AudioFormat format = AudioFormat::wav;
  Hertz rate = kModelRate;    ///< sample rate of the files: up to kModelRate, from which they are resampled
  bool letter_times = false;  ///< the transcripts' words are single letters, the first of a word with its space
  int threads = 1;
};

/// What was written.
struct MorseFolderReport {
  std::int64_t clips = 0;
  Seconds audio{};
  Seconds spent{};
};

/// Writes the corpus in field note 004's layout: audio/, metadata.csv, splits/{train,validation,test}.csv (80/10/10, in
/// noise as in text), and transcripts/ID.json with the times of every word. The same bytes whatever the number of
/// threads. A folder that holds a corpus already is refused, and so is one into which another process is writing one.
Result<MorseFolderReport> write_morse_folder(const MorseFolder& wanted);

}  // namespace tutti
