#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "audio/mel/log_mel.h"
#include "feed/options.h"
#include "feed/stages/audio_files.h"
#include "feed/stages/row.h"
#include "feed/stages/shelf.h"

namespace tutti {

/// Another number when what features are changes: caches and packed sets of older ones are not read any more.
inline constexpr double kFeatureVersion = 2;

/// What features are, for caches and packed sets: those of the keyed tone alone are others.
inline double feature_kind(const FeedOptions& options) {
  return options.keyed_tone ? kFeatureVersion + 0.5 : kFeatureVersion;
}

/// What is done to one sample, step by step, up to its row of the batch. Every step is a function of the sample, the
/// options and the epoch alone, and called by several threads at once. A step that fails marks the row as bad, or,
/// where no sample is to blame, reports what the machine is short of.
class SampleStages {
 public:
  /// `cache` may be null.
  SampleStages(const FeedOptions& options, const Dataset& set, FeatureCache* cache)
      : options_(options), set_(set), cache_(cache), log_mel_(options.n_mels, options.keyed_tone) {}

  /// The samples that a line of the set comes to, and how long they are: from the line itself, or the file's header,
  /// which is read once: later epochs wait for no file.
  Probed probe(Probed probed) const;
  /// The file's bytes, at once: later steps wait for no disk. Where it is large and the sample a part of it, that part
  /// is left to `decode`.
  void read(PendingSample& row) const;
  void decode(PendingSample& row) const;
  /// To 16 kHz and mono; then exactly the part that the sample is.
  void resample(PendingSample& row);
  void augment(PendingSample& row) const;
  /// Into the batch's own memory; what follows the real frames becomes what silence would be.
  void features(PendingSample& row);
  /// Instead of `features`: what a cache keeps of them, for a packed set. None for a row that is bad now.
  std::optional<CachedFeatures> features_to_keep(PendingSample& row) const;
  /// Instead of the two: the audio itself, and what is to be done to it.
  void hand_over(PendingSample& row) const;

  /// Mel frames of `samples` at 16 kHz: whole hops, at least one.
  static std::int32_t frames_of(std::int64_t samples);

 private:
  Result<std::vector<PlannedSample>> plan_of(const Probed& probed, const DatasetLine& line) const;
  Result<double> recording_seconds(std::int64_t index, const DatasetLine& line) const;
  /// The speed a sample of so many seconds is played at: what would then be too long for the window stays as it is.
  double speed_within(std::uint64_t key, double seconds) const;
  Result<void> add_text(PendingSample& row) const;
  Result<void> add_piece(PendingSample& row) const;
  void trim(PendingSample& row, ClipPcm& pcm) const;
  std::optional<CachedFeatures> look_up(PendingSample& row, const WholeFile& bytes) const;
  void describe(PendingSample& row, std::int32_t frames) const;
  bool compute_rounded(PendingSample& row) const;
  Result<CachedFeatures> half_features(const SampleReader& audio, std::int32_t real, const PendingSample& row) const;
  void keep(const CacheKey& key, const CachedFeatures& made);
  Result<void> write_features(const SampleReader& audio, std::int32_t real, float* out, std::int64_t stride) const;

  const FeedOptions& options_;
  const Dataset& set_;
  FeatureCache* cache_;
  std::atomic<bool> has_failed_to_store_ = false;
  // Seconds of each line's file whose header was read, else 0. Only from the first header on: large sets have lengths.
  mutable std::vector<std::atomic<double>> lengths_{};
  mutable std::once_flag has_lengths_{};
  ChildDecoder children_;
  LogMel log_mel_;
  Shelf<ClipResampler> resamplers_;
};

}  // namespace tutti
