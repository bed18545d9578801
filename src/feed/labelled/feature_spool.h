#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "feed/feature_cache.h"
#include "feed/labelled/audio_geometry.h"
#include "feed/prepared_set.h"

namespace tutti {

/// The name of the features of a set that is being built, in its folder.
inline constexpr const char* kSpoolName = "features.part";

/// What is kept of a file beside its features.
struct SpooledClip {
  CacheKey content{};                   ///< a digest of the file's bytes
  std::uint64_t checksum = 0;           ///< row_checksum of the features
  std::uint64_t waveform_checksum = 0;  ///< likewise of the waveform; 0 where none is kept
  std::int64_t record = -1;             ///< where both are
  std::int64_t start = 0;               ///< sample of the file that it begins at, at the geometry's rate
  std::int64_t count = 1;               ///< clips that its file has
  bool is_cut = false;
  bool is_padded = false;
  bool is_moved = false;
};

/// The features of a set that is being built, and on request its waveforms, in one file on disk: memory holds none of
/// them, and a build that was killed continues with what it had computed. A record is one clip. It has a checksum of
/// its own, so one that was cut short counts as absent. A clip is found again by its file's name, number (inode), size
/// and times of change.
///
/// `find` and `append` are thread-safe. `mel` and `waveform` are for afterwards.
class FeatureSpool {
 public:
  /// Opens the spool, or makes one; one of another geometry, or with waveforms where this has none, is emptied.
  /// Fault::usage where another process builds with it.
  static Result<std::unique_ptr<FeatureSpool>> open(const std::filesystem::path& path, const AudioGeometry& geometry,
                                                    bool has_waveforms = false);

  /// Whether the file there is a spool, of whatever geometry.
  static bool is_spool(const std::filesystem::path& path);

  /// The identity of a file as it is now: its name, number, size and times of change. Archives give files of one size
  /// one time of modification; what the file system itself notes distinguishes them.
  static Result<CacheKey> identity_of(const std::string& name, const std::filesystem::path& path);

  /// What an earlier build has computed of this file.
  std::optional<SpooledClip> find(const CacheKey& identity) const;
  /// Appends a clip's features [longs, shorts, n_mels, frames], in a spool with waveforms also its segments
  /// [longs, shorts, short_samples], and sets its record.
  Result<void> append(const CacheKey& identity, SpooledClip& clip, std::span<const std::uint16_t> mel,
                      std::span<const float> waveform = {});

  /// Maps what was written, for `mel` and `waveform`. After all appending.
  Result<void> finish();
  std::span<const std::uint16_t> mel(const SpooledClip& clip) const;
  std::span<const float> waveform(const SpooledClip& clip) const;
  /// Removes the file: the set has what it held.
  Result<void> remove();

 private:
  FeatureSpool(std::filesystem::path path, std::unique_ptr<SetFileWriter> file, std::int64_t values,
               std::int64_t waveform_values)
      : path_(std::move(path)), file_(std::move(file)), values_(values), waveform_values_(waveform_values) {}
  std::int64_t waveform_bytes() const { return waveform_values_ * static_cast<std::int64_t>(sizeof(float)); }
  std::int64_t record_bytes() const;
  std::span<const std::byte> content_of(const SpooledClip& clip) const;
  Result<void> read_records();

  std::filesystem::path path_;
  std::unique_ptr<SetFileWriter> file_;
  std::int64_t values_;           // features of a clip
  std::int64_t waveform_values_;  // samples of a clip's waveform; 0: none are kept
  std::map<CacheKey, SpooledClip> known_{};
  std::optional<MappedFile> map_{};
};

}  // namespace tutti
