#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "audio/augment/augmentation.h"
#include "base/clock.h"
#include "base/error.h"
#include "feed/buffers.h"
#include "feed/timed_text.h"
#include "metrics/work_span.h"

namespace tutti {

/// What is known of one row of a batch beside its features.
struct BatchSample {
  std::string id{};                ///< as the manifest names it; "ID#2" is the second piece of a recording that was cut
  std::string text{};              ///< exactly as written; tokenising and normalising belong to the task
  std::int32_t frames = 0;         ///< real mel frames; what follows in its row is padding
  std::vector<TimedText> times{};  ///< where the source knows them; empty otherwise
  std::vector<TimedText> words{};  ///< the same as finely as it is known: words or parts of them, with their spaces
  std::filesystem::path audio{};   ///< the path of its audio file
  double start = 0;                ///< seconds in that file
  bool begins = true;              ///< its recording; not so of the pieces behind the first, where one was cut
  std::vector<std::string> fields{};  ///< the values of FeedOptions::fields, in that order; "" where a line has none
};

/// A row before its features.
struct BatchAudio {
  std::vector<std::int16_t> pcm{};  ///< 16 kHz, mono, as long as it was recorded
  AudioChanges changes{};           ///< to be made to it
  SpectrumMasks masks{};            ///< to be laid over its features
};

/// A row before it is gathered.
struct GatherIndex {
  std::int64_t entry = 0;  ///< index of its entry in the packed set
  SpectrumMasks masks{};   ///< to be laid over it
};

using BatchClips = std::vector<BatchAudio>;
using BatchGather = std::vector<GatherIndex>;
using SetRows = std::vector<std::int64_t>;

/// The rows of a batch, in one form.
using BatchContent = std::variant<HostBuffer,   // features, [samples, n_mels, T] float32; padding holds what silence
                                                // would in that row
                                  BatchClips,   // audio, where the options want that: a device makes features of it
                                  BatchGather,  // what a device gathers itself
                                  SetRows>;     // rows of a set that the task holds and gathers itself: no `samples`

/// One training batch, in host memory. Plain data; belongs to its holder. Destroying it returns its memory to the feed,
/// also after the feed has gone.
struct Batch {
  std::int64_t index = 0;  ///< 0 for the first batch of the run, counted over epochs and resumes
  std::int64_t epoch = 0;  ///< 0 for the first; no batch holds samples of two
  std::int64_t n_mels = 0;
  std::int64_t frames = 0;  ///< T: of the longest row, rounded up as the options say, or the whole window
  BatchContent content{};
  std::vector<BatchSample> samples{};  ///< of each row; none beside SetRows
  /// Since when a later batch was whole and waited for this one, by FeedOptions::clock; none: none did.
  std::optional<Clock::Instant> held_up_since{};
  WorkSpan held_up{};   ///< the part of that in which `Feed::next` waited for this batch
  StageWork made_by{};  ///< what the feed's stages did for it; what they did ahead of the plan is the next batch's
  /// Opens a feed (FeedOptions::resume) that goes on with the next sample after this batch. A few kilobytes.
  std::string position{};

  std::int64_t size() const {
    const auto* of_set = std::get_if<SetRows>(&content);
    return of_set ? std::ssize(*of_set) : std::ssize(samples);
  }
  /// The content in the form that the caller knows it to have; std::bad_variant_access where it has another.
  const HostBuffer& mel() const { return std::get<HostBuffer>(content); }
  const BatchClips& clips() const { return std::get<BatchClips>(content); }
  const BatchGather& gather() const { return std::get<BatchGather>(content); }
  const SetRows& rows() const { return std::get<SetRows>(content); }
  /// Features of one row.
  float* row(std::int64_t sample) { return std::get<HostBuffer>(content).data() + sample * n_mels * frames; }
  const float* row(std::int64_t sample) const { return mel().data() + sample * n_mels * frames; }
};

/// The next batch of some feed; nothing when it has ended.
using NextBatch = std::function<Result<std::optional<Batch>>()>;

}  // namespace tutti
