#pragma once

#include <cstdint>
#include <filesystem>

#include "audio/synth/audio_file.h"
#include "audio/synth/leak_clip.h"

namespace tutti {

struct LeakFolder {
  LeakCorpus corpus{};
  std::int64_t count = 0;
  std::filesystem::path out{};
  AudioFormat format = AudioFormat::wav;
  int threads = 1;
};

/// What was written.
struct LeakFolderReport {
  std::int64_t clips = 0;
  std::int64_t out_of_water = 0;
  Seconds audio{};
  Seconds spent{};
};

/// Writes the corpus in field note 003's layout: LABEL/sensor~recording~timestamp~gain.wav, and metadata.csv with what
/// each clip is made of. The same bytes whatever the number of threads. A folder that holds a corpus already is
/// refused, and so is one into which another process is writing one.
Result<LeakFolderReport> write_leak_folder(const LeakFolder& wanted);

}  // namespace tutti
