#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "feed/prepared_set.h"
#include "feed/voice/voice_file.h"
#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"

namespace tutti {

/// A clip as it goes into a set; as VoiceClip, with its own memory.
struct NewVoiceClip {
  std::vector<std::int32_t> symbols{};
  std::vector<float> mel{};     ///< [frames, n_mels]
  std::vector<float> pitch{};   ///< [frames]
  std::vector<float> energy{};  ///< [frames]
  std::vector<float> audio{};   ///< the samples that they are of; for a set with waveforms
  std::int32_t speaker = 0;
  VoicePart part = VoicePart::training;
  std::string name{};
  std::string text{};
};

/// Writes a set clip by clip beside where it will be, and gives it its name when it is whole and on the disk. A process
/// that is killed before leaves the old set, if there was one, and a half file that the next writer replaces. One
/// thread.
class VoiceSetWriter {
 public:
  /// Makes `folder`. `mel`: what the clips' spectrograms are made by; `waveforms`: the clips' audio is kept beside
  /// the set, too (VoiceWaveforms).
  static Result<std::unique_ptr<VoiceSetWriter>> create(const std::filesystem::path& folder, const VoiceMelOptions& mel,
                                                        bool waveforms = false);
  VoiceSetWriter(const VoiceSetWriter&) = delete;
  VoiceSetWriter& operator=(const VoiceSetWriter&) = delete;

  /// Appends a clip. Throws std::invalid_argument for one whose sizes do not agree, that has no
  /// frame, or more symbols than frames: no alignment has frames for them.
  Result<void> append(const NewVoiceClip& clip);
  /// Takes clips out of the set again: their indices, in ascending order. What they take of the file stays.
  Result<void> leave_out(std::span<const std::size_t> clips);
  /// Fills in the means and deviations of `format`, writes what belongs to all clips, syncs, renames.
  Result<void> publish(VoiceFormat format, const std::string& front_end);

  /// Totals of the clips appended so far.
  Bytes size() const { return {file_->end()}; }
  /// The same of their waveforms; none where they are not kept.
  Bytes waveform_size() const { return waveforms_ ? waveforms_->size() : Bytes{}; }

 private:
  /// Sums over the frames of clips that are learned from, of which the means of the set are made without reading it
  /// again.
  struct Sums {
    std::vector<double> values{};   // [n_mels]
    std::vector<double> squares{};  // [n_mels]
    double pitch = 0, pitch_squares = 0;
    std::int64_t frames = 0, voiced = 0;
  };

  VoiceSetWriter(std::unique_ptr<SetFileWriter> file, std::string name, VoiceMelOptions mel)
      : file_(std::move(file)), name_(std::move(name)), mel_(mel) {}
  void add_to_sums(std::span<const float> mel, std::span<const float> pitch, double sign);
  void set_means(VoiceFormat& format) const;

  std::unique_ptr<SetFileWriter> file_;
  std::string name_;  // of the set, in errors
  VoiceMelOptions mel_;
  std::vector<VoiceEntry> entries_{};
  std::optional<VoiceWaveformWriter> waveforms_{};
  Sums sums_{};
};

}  // namespace tutti
