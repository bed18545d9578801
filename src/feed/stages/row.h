#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/clip/clip.h"
#include "base/error.h"
#include "feed/batch.h"
#include "feed/feature_cache.h"
#include "feed/plan/planner.h"
#include "feed/source/dataset.h"

namespace tutti {

/// A batch whose rows are being made. Each row is written by the one thread that has it; the batch stage looks at a row
/// after it has arrived there.
struct PendingBatch {
  Batch batch;  ///< without features where all of its rows are kept apart
  /// [n_mels, frames] of rows that are kept apart until all are there: audio, what straddles its end, a last frame of
  /// silence. They are all rows of a batch that is filled up to the window: that is mostly silence, and several batches
  /// are in work at a time. In other batches they are the rows that do not fit the planned T, or only without their
  /// end: where another makes the batch longer, they are still what they are on their own.
  std::vector<std::vector<float>> apart{};

  bool keeps_all_apart() const { return batch.mel.size() == 0 && batch.clips.empty(); }
};

/// A sample of the order, looked at but not decoded; or a mark between samples.
struct Probed {
  enum class Kind { begin, sample, end_of_epoch };
  Kind kind = Kind::sample;
  std::int64_t epoch = 0;
  std::int64_t cursor = 0;  ///< index in the epoch's order
  std::int64_t index = 0;   ///< line of the set
  std::vector<PlannedSample> samples{};
  std::string id{};  ///< id of a bad sample
  std::optional<Error> bad{};
  StageWork made_by{};
};

/// One row of a batch on its way through the stages; each adds something and releases what it used.
struct PendingSample {
  std::shared_ptr<PendingBatch> work{};  ///< none: a mark that nothing more comes for now
  std::size_t at = 0;
  PlannedSample planned{};
  DatasetLine line{};
  std::vector<std::byte> bytes{};
  bool is_on_disk = false;  ///< part of a large file, and read from there
  NativeClip clip{};
  std::vector<std::int16_t> pcm{};
  std::vector<TimedText> times{};
  std::vector<TimedText> words{};
  bool cut_start = false;  ///< kCutSearch of audio is before the nominal start, to find quiet in
  bool cut_end = false;
  CacheKey key{};  ///< cache key of its features, where there is a cache
  std::optional<CachedFeatures> cached{};
  float lead = 0;              ///< seconds that a cut moved the start by
  StageWork made_by{};         ///< what the stages did for it
  std::optional<Error> bad{};  ///< set by the stage that found out; later ones hand the row on
  /// Set instead of `bad`: what this machine has not got, and every sample like this one needs. The feed ends with it.
  std::optional<Error> exhausted{};

  bool is_wanted() const { return work && !bad && !exhausted && planned.index >= 0; }
  /// It has to be decoded: its features were not in the cache.
  bool needs_audio() const { return is_wanted() && !cached; }
};

/// Gives the memory back, which `= {}` would keep: rows wait for others, and have done with what they were made of.
template <class T>
void release(std::vector<T>& done_with) {
  done_with = std::vector<T>();
}

using RowPtr = std::unique_ptr<PendingSample>;

}  // namespace tutti
