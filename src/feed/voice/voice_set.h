#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "base/files.h"
#include "feed/prepared_set.h"
#include "feed/voice/voice_file.h"

namespace tutti {

/// What all clips of a set have in common, and what a model that learns from it keeps.
struct VoiceFormat {
  VoiceMelOptions mel{};
  std::vector<float> mean{};  ///< [n_mels]: of each bin, over all frames for training
  float deviation = 1;        ///< standard deviation of all values from their bin's mean, one number
  double pitch_mean = 0;      ///< mean of the natural logarithm of the voiced frames' pitch
  double pitch_deviation = 1;
  std::vector<std::string> symbols{};   ///< by number
  std::vector<std::string> speakers{};  ///< by number
  std::string language{};               ///< a code such as "en"
  std::string kind{};                   ///< kind of the symbols: "characters" or "phonemes"
  std::string label{};                  ///< where the audio comes from, for the model's card
};

/// The format as JSON, as a set keeps it.
std::string show_voice_format(const VoiceFormat& format);
/// And back; Fault::corrupt names the key that is missing or cannot be.
Result<VoiceFormat> read_voice_format(std::string_view json);

/// A clip of the set; views into it.
struct VoiceClip {
  std::span<const std::int32_t> symbols{};
  std::span<const float> mel{};     ///< [frames, n_mels]: natural logarithm, at least ln(1e-5)
  std::span<const float> pitch{};   ///< [frames] in Hz; 0: not voiced
  std::span<const float> energy{};  ///< [frames]: norm of the frame's magnitudes
  std::int64_t frames = 0;
  std::int32_t speaker = 0;
  std::string_view name{};
  std::string_view text{};
};

/// At most `most` of these clips, spread evenly over all of them.
std::vector<std::int64_t> spread_evenly(std::span<const std::int64_t> clips, std::size_t most);

/// Spoken clips, packed once: spectrograms, pitch, energy and symbols in one mapped file, gathered by index. Immutable;
/// thread-safe.
class VoiceSet {
 public:
  /// `path`: the set's folder, or its file in it. Holds every clip against its checksum. Fault::missing where there is
  /// none, Fault::corrupt for a damaged one or a file of another kind.
  static Result<std::shared_ptr<VoiceSet>> open(const std::filesystem::path& path);

  const VoiceFormat& format() const { return format_; }
  /// Bytes of the text front end that made the symbols (text/speech/front_end.h); the model keeps them.
  std::string_view front_end() const { return front_end_; }
  /// A digest of all of it, which a resumed training compares.
  std::uint64_t fingerprint() const { return head_.index_check; }

  /// Clips of both parts.
  std::int64_t size() const { return std::ssize(entries_); }
  /// Clip `index` of [0, size()).
  VoiceClip clip(std::int64_t index) const;
  /// Indices of the clips of a part, ascending.
  std::span<const std::int64_t> part(VoicePart part) const {
    return part == VoicePart::training ? training_ : validation_;
  }
  /// Frames of clip `index`, and its symbols, without touching its data.
  std::int64_t frames(std::int64_t index) const { return entries_[static_cast<std::size_t>(index)].frames; }
  std::int64_t symbols(std::int64_t index) const { return entries_[static_cast<std::size_t>(index)].symbols; }
  /// The length of the clips together in minutes, by their frames: "58.2".
  std::string minutes(std::span<const std::int64_t> clips) const;

 private:
  explicit VoiceSet(SetFile<VoiceHead> opened);
  Result<void> read_format();
  Result<void> check_clips() const;

  MappedFile file_;
  VoiceHead head_{};
  std::span<const VoiceEntry> entries_{};
  std::string_view front_end_{};
  VoiceFormat format_{};
  std::vector<std::int64_t> training_{};
  std::vector<std::int64_t> validation_{};
};

}  // namespace tutti
