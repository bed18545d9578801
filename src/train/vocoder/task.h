#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "feed/voice/voice_set.h"
#include "feed/voice/voice_waveforms.h"
#include "recipe/vocoder_recipe.h"
#include "train/task.h"
#include "train/tts/made_spectrograms.h"
#include "train/vocoder/model.h"
#include "train/vocoder/source_filter.h"
#include "train/vocoder/spectral_distance.h"

namespace tutti {

/// What a vocoder learns from: the clips of a set's part that are as long as a crop.
struct VocoderData {
  std::shared_ptr<const VoiceSet> set{};
  std::shared_ptr<const VoiceWaveforms> waveforms{};
  std::vector<std::int64_t> training{};      // clips
  std::vector<std::int64_t> validation{};    // the same that the best network is chosen by
  std::shared_ptr<MadeSpectrograms> made{};  // nullptr: the recordings' own spectrograms are learned of

  /// `voice`: the folder of one that makes the spectrograms; empty: none. Errors as of VoiceSet, VoiceWaveforms and
  /// MadeSpectrograms; Fault::usage where no clip is long enough.
  static Result<VocoderData> open(const std::filesystem::path& folder, const std::filesystem::path& voice = {});
  /// Row-major [frames, n_mels] of a clip from frame `first` on: what a vocoder gets, natural logarithms.
  std::vector<float> spectrogram(std::int64_t clip, std::int64_t first, std::int64_t frames) const;
  /// A digest of all of it, which a resumed training compares.
  std::uint64_t fingerprint() const;
};

/// Frames of a clip that a vocoder learns from in a step.
std::int64_t vocoder_crop_frames(const VoiceMelOptions& options);
/// Samples that the frames of such a crop see.
std::int64_t vocoder_crop_samples(const VoiceMelOptions& options);

/// What is lost of crops. Immutable, as SourceFilter and SpectralDistance.
class VocoderLoss {
 public:
  VocoderLoss(const VoiceMelOptions& options, at::Device device);

  /// What is lost of each: `inputs` are mel [rows, frames, mels], normalised, the recording, pulses of its pitch and
  /// noise, each [rows, samples], and the pitch [rows, frames] in Hz, all float32 -> [rows] float32. Enqueues only.
  at::Tensor operator()(const VocoderNetwork& network, const std::vector<at::Tensor>& inputs) const;
  const SourceFilter& filter() const { return filter_; }

 private:
  SourceFilter filter_;
  SpectralDistance distance_;
  std::int64_t edge_;  // samples at both ends that too few frames see
};

/// Learning to make audio of spectrograms, of crops of recordings. Batches come as rows of VocoderData::training
/// (Batch::rows).
class VocoderTask : public Task {
 public:
  /// Fault::usage or Fault::missing for a device that is not there.
  static Result<std::unique_ptr<VocoderTask>> start(const VocoderRecipe& recipe, VocoderData data);

  const std::vector<Parameter>& trained() const override { return model_.network.all; }
  at::Device device() const override { return device_; }
  TaskBatch prepare(const Batch& batch) override;
  at::Tensor loss_sum(const std::vector<at::Tensor>& inputs, bool dropout) override;
  std::map<std::string, std::string> files(const std::string& weight_type) const override {
    return model_.files(weight_type);
  }
  std::vector<Parameter> weights() const override { return model_.network.all; }

  const VocoderModel& model() const { return model_; }
  /// README.md of OUT/model from now on.
  void set_card(const std::string& card) { model_.card = card; }

 private:
  VocoderTask(VocoderModel model, VocoderData data, std::uint64_t seed, at::Device device);

  VocoderModel model_;
  VocoderData data_;
  std::uint64_t seed_;
  at::Device device_;
  VocoderLoss loss_;
};

/// Copy synthesis: how far audio is from the recordings whose spectrograms it was made of, means over clips.
struct CopyScores {
  double mel = 0, spectra = 0;  // as SpectralDistances
};

/// What makes audio of the spectrogram of one clip: log_mel [frames, n_mels] and frames -> frames * hop samples.
using MakeAudio = std::function<std::vector<float>(std::span<const float> log_mel, std::int64_t frames)>;

/// Scores what `make` makes of these clips, on the CPU. `interrupted` ends it with Fault::cancelled.
Result<CopyScores> score_copies(const VocoderData& data, std::span<const std::int64_t> clips, const MakeAudio& make,
                                const std::function<bool()>& interrupted);

}  // namespace tutti
