#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "audio/mel/acoustic_mel.h"
#include "audio/mono_audio.h"
#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// How a clip becomes what a classifier sees: a clip holds long segments, a long segment holds short ones, and of each
/// short segment one spectrogram is made. Most sets have one of each, as long as the clip.
struct AudioGeometry {
  std::string name = "clip";      ///< name of the preset: "clip", "leak" or "leak-overlap"
  std::int64_t clip_samples = 0;  ///< longer clips are cut, shorter ones filled up with zeros
  std::int64_t longs = 1;         ///< long segments of a clip
  std::int64_t long_samples = 0;
  std::int64_t long_hop = 0;  ///< samples from one long segment to the next
  std::int64_t shorts = 1;    ///< short segments of a long one
  std::int64_t short_samples = 0;
  std::int64_t short_hop = 0;
  AcousticMelOptions mel{};

  Seconds seconds() const { return length_of(clip_samples, mel.rate); }
  std::int64_t segments() const { return longs * shorts; }
  std::int64_t frames() const;
  /// Values of a clip: [longs, shorts, n_mels, frames].
  std::int64_t values() const { return segments() * mel.n_mels * frames(); }
  /// Samples of a clip's segments: [longs, shorts, short_samples].
  std::int64_t waveform_values() const { return segments() * short_samples; }
};

/// Note 003's: 10 s at 4,096 Hz, 40 long x 2 short segments of 512 samples, 64 mels x 1 frame.
AudioGeometry leak_geometry();

/// The note's other one: 79 x 3 overlapping segments with 32 mels.
AudioGeometry overlapping_leak_geometry();

/// A geometry for clips of that rate and length: one segment, frames of about 32 ms, at most 128 of them.
AudioGeometry clip_geometry(Hertz rate, Seconds length, int n_mels = 0);

/// Fault::usage where a part is not positive, segments do not fit the clip, or the spectrogram has no frame.
Result<void> check(const AudioGeometry& geometry);

/// As config_json keeps it, with the note's keys and those it lacks; and back. `longs`, `shorts` and `n_mels` are the
/// dataset's, for a config of the note's builder does not name all of them. Fault::corrupt names what is missing.
std::string show_geometry(const AudioGeometry& geometry);
Result<AudioGeometry> read_geometry(std::string_view json, std::int64_t longs, std::int64_t shorts);

/// The short segments of a clip that was cut or filled up: [longs, shorts, short_samples].
std::vector<float> segments_of(const AudioGeometry& geometry, std::span<const float> samples);

/// A clip put together of its segments, as segments_of makes them; zeros where none of them is.
std::vector<float> clip_of(const AudioGeometry& geometry, std::span<const float> segments);

/// The spectrograms of one clip in half precision, and what they were made of.
struct ClipFeatures {
  std::vector<std::uint16_t> mel{};  ///< [longs, shorts, n_mels, frames]
  std::vector<float> waveform{};     ///< [longs, shorts, short_samples]
  bool is_cut = false;
  bool is_padded = false;
};

/// Computes clips' features. Immutable; thread-safe.
class ClipFeatureMaker {
 public:
  explicit ClipFeatureMaker(AudioGeometry geometry) : geometry_(std::move(geometry)), mel_(geometry_.mel) {}

  const AudioGeometry& geometry() const { return geometry_; }
  /// Seconds of samples at the geometry's rate.
  ClipFeatures compute(std::span<const float> samples) const;

 private:
  AudioGeometry geometry_;
  AcousticMel mel_;
};

}  // namespace tutti
