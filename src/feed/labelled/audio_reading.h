#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "audio/clip/clip.h"
#include "audio/mono_audio.h"
#include "base/error.h"
#include "feed/feature_cache.h"
#include "feed/stages/audio_files.h"

namespace tutti {

/// Checks a recording, read as a whole or in parts, for what no microphone has recorded. One thread.
class SampleCheck {
 public:
  /// Fault::corrupt names the first of these samples that is NaN, infinite, or more than any recording holds: one such
  /// file would make all others look alike to a network. `first`: the index of
  /// samples[0] in the recording.
  Result<void> add(std::span<const float> samples, std::int64_t first = 0);
  /// Whether all samples that were added are the same.
  bool is_silent() const;

 private:
  float least_ = 0, most_ = 0;
  bool has_samples_ = false;
};

/// Fault::corrupt, of a recording that is_silent().
tl::unexpected<Error> silent_error();

/// A file of audio as a classifier takes it.
struct ReadAudio {
  MonoAudio audio{};   ///< the mean of the channels, at the file's own rate
  CacheKey content{};  ///< a digest of the file's bytes
};

/// Reads one file, or a range of it, of any format: libsndfile's in this process, others by a decoding child, at 16
/// kHz. Fault::corrupt for a file that is damaged, shorter than its header promises, holds values that are no numbers,
/// or is silent: no such file is ever taken for audio. Thread-safe with a `children` of its own or shared.
/// `member`: the part of the file that is the recording, as of a tar; none: all of it.
Result<ReadAudio> read_labelled_audio(const std::filesystem::path& path, const ChildDecoder& children,
                                      const ClipRange& range = {}, const std::optional<FileRange>& member = {});

/// Where the clip of a recording begins: at its start, unless more than half of that clip would be digital silence and
/// another stretch has more audio. Then it begins where the stretch with the most audio does, the first of several; it
/// may be shorter than a clip. Digital silence is 10 ms or more whose samples are all the same, as recorders and
/// editors fill up files; a soft sound is none. Pure.
std::int64_t start_of_clip(std::span<const float> samples, std::int64_t clip_samples, Hertz rate);

/// Where `count` clips of a longer recording begin: evenly from its start to its end. Those that would be digital
/// silence for more than half are left out, unless all would. Of one clip, or of a recording that is no longer than a
/// clip, start_of_clip. Pure.
std::vector<std::int64_t> starts_of_clips(std::span<const float> samples, std::int64_t clip_samples, Hertz rate,
                                          std::int64_t count);

/// How many clips a recording of so many samples holds: a rest of half a clip counts as one. At least 1.
std::int64_t clips_in(std::int64_t samples, std::int64_t clip_samples);

/// Rate and length of a file.
struct HeaderFacts {
  Hertz rate{};
  Seconds length{};
};

/// Those that its header states; of a format that only a decoding child reads, what that makes of it. None where
/// nothing is known.
std::optional<HeaderFacts> header_facts(const std::filesystem::path& path, const std::optional<FileRange>& member = {});

/// Whether an error is the file's own, so that the work goes on without it; not so where the machine is short of
/// something.
bool is_fault_of_file(const Error& error);

}  // namespace tutti
