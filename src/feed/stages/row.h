#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
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

  bool keeps_all_apart() const {
    const auto* mel = std::get_if<HostBuffer>(&batch.content);
    return mel && mel->size() == 0;
  }
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

/// Nothing of it is read.
struct PlannedRow {};
/// The bytes of a file.
using WholeFile = std::vector<std::byte>;
/// A part of a large file, which is read from there as it is decoded.
struct PartOfFile {};
/// 16 kHz, mono.
using ClipPcm = std::vector<std::int16_t>;
/// It is in its batch.
struct FinishedRow {};
/// There is no sample left for it.
struct UnfilledRow {};
/// No row, and of no batch: a mark that nothing more comes for now.
struct EndOfRows {};
/// Why a sample is unusable.
struct BadSample {
  Error why;
};
/// What this machine has not got, and every sample like this one needs. The feed ends with it.
struct Shortage {
  Error why;
};

/// What a row is by now. Each stage replaces what it worked on, whose memory is free then, by what it made of it.
using RowState = std::variant<PlannedRow, WholeFile, PartOfFile, NativeClip, ClipPcm, CachedFeatures, FinishedRow,
                              UnfilledRow, EndOfRows, BadSample, Shortage>;

/// One row of a batch on its way through the stages; each adds something and releases what it used.
struct PendingSample {
  std::shared_ptr<PendingBatch> work{};
  std::size_t at = 0;
  PlannedSample planned{};
  DatasetLine line{};
  RowState state{};
  std::vector<TimedText> times{};
  std::vector<TimedText> words{};
  bool cut_start = false;  ///< kCutSearch of audio is before the nominal start, to find quiet in
  bool cut_end = false;
  CacheKey key{};       ///< cache key of its features, where there is a cache
  float lead = 0;       ///< seconds that a cut moved the start by
  StageWork made_by{};  ///< what the stages did for it

  template <class State>
  bool is() const {
    return std::holds_alternative<State>(state);
  }
  /// Why it is unusable, or cannot be made here; none: it is not so.
  const Error* bad() const { return error_in<BadSample>(); }
  const Error* shortage() const { return error_in<Shortage>(); }
  /// A stage has something to do for it; others hand it on.
  bool is_wanted() const {
    return !is<UnfilledRow>() && !is<EndOfRows>() && !is<FinishedRow>() && !is<BadSample>() && !is<Shortage>();
  }
  /// It has to be decoded: its features were not in the cache.
  bool needs_audio() const { return is_wanted() && !is<CachedFeatures>(); }

 private:
  template <class State>
  const Error* error_in() const {
    const auto* failed = std::get_if<State>(&state);
    return failed ? &failed->why : nullptr;
  }
};

using RowPtr = std::unique_ptr<PendingSample>;

}  // namespace tutti
