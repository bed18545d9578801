#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/units.h"
#include "feed/prepared_set.h"
#include "feed/voice/voice_file.h"
#include "feed/voice/voice_set.h"

namespace tutti {

/// The name of the waveforms' file in the folder of a set, and of one that is not whole yet.
inline constexpr const char* kVoiceWaveformFile = "waveforms.set";
inline constexpr const char* kHalfVoiceWaveformFile = "waveforms.set.half";

/// What such files begin with, in every version.
inline constexpr std::string_view kVoiceWaveformMark = "tutwav";

/// The head of that file. Behind it are the clips' samples (float32), each clip at a multiple of kVoiceAlignment, and
/// the index. As this machine writes numbers.
struct WaveformHead {
  static constexpr std::uint64_t kMagic = 0x3130766177747574;  // "tutwav01"
  std::uint64_t magic = kMagic;
  std::int64_t clips = 0;
  std::int64_t index_at = 0;      ///< in bytes
  std::uint64_t set = 0;          ///< fingerprint of the set that was made of them
  std::uint64_t index_check = 0;  ///< checksum of the index
  std::uint64_t head_check = 0;   ///< checksum of the head without it
};

struct WaveformEntry {
  std::int64_t at = 0;       ///< in bytes
  std::int64_t samples = 0;  ///< at the rate of the set's spectrograms
  std::uint64_t check = 0;   ///< checksum of its samples
};

/// The audio that a set's spectrograms were made of, trimmed and with its background noise, mapped. Immutable;
/// thread-safe.
class VoiceWaveforms {
 public:
  /// Those of `set`, which was opened from the folder `folder`, or from its file in there. Fault::missing where the set
  /// was made without, Fault::usage where they are of another set, Fault::corrupt for a damaged file.
  static Result<VoiceWaveforms> open(const std::filesystem::path& folder, const VoiceSet& set);

  /// Samples of clip `index`, without touching them.
  std::int64_t samples(std::int64_t index) const { return entries_[static_cast<std::size_t>(index)].samples; }
  /// The clip's samples, full scale 1. Fault::corrupt where they do not have their checksum.
  Result<std::span<const float>> clip(std::int64_t index) const;

 private:
  VoiceWaveforms(std::filesystem::path path, MappedFile file, std::span<const WaveformEntry> entries)
      : path_(std::move(path)), file_(std::move(file)), entries_(entries) {}

  std::filesystem::path path_;
  MappedFile file_;
  std::span<const WaveformEntry> entries_{};
};

/// Writes that file as VoiceSetWriter writes a set, which keeps other processes away. One thread.
class VoiceWaveformWriter {
 public:
  /// Into a folder that is there.
  static Result<VoiceWaveformWriter> create(const std::filesystem::path& folder);

  Result<void> append(std::span<const float> samples);
  /// Takes clips off the index again: their indices, in ascending order.
  void leave_out(std::span<const std::size_t> clips) { erase_at(entries_, clips); }
  /// Writes index and head, syncs, renames. `set`: fingerprint of the set.
  Result<void> publish(std::uint64_t set);
  Bytes size() const { return {file_->end()}; }

 private:
  explicit VoiceWaveformWriter(std::unique_ptr<SetFileWriter> file) : file_(std::move(file)) {}

  std::unique_ptr<SetFileWriter> file_;
  std::vector<WaveformEntry> entries_{};
};

}  // namespace tutti
