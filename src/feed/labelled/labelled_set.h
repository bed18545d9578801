#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "feed/labelled/audio_geometry.h"
#include "feed/labelled/labelled_files.h"

namespace tutti {

class Hdf5File;

/// What a set's file of each part is called: TRAINING_DATASET.H5, VALIDATION_DATASET.H5, TESTING_DATASET.H5.
std::filesystem::path set_file(const std::filesystem::path& set, SetPart part);

/// Other forms of a training's set that it may choose: of bands of equal width, and of clips of 2 s. Each is a folder
/// SET-NAME beside it.
inline constexpr const char* kFrontEnds[] = {"linear", "short"};
std::filesystem::path set_with_front_end(std::filesystem::path set, const std::string& name);

/// One clip of a set that is written.
struct LabelledRow {
  std::string name{};  ///< name of its file; of one of several clips by clip_name
  std::string group{};
  std::int16_t label = 0;
  std::uint64_t checksum = 0;           ///< row_checksum of its features, taken where they were computed
  std::uint64_t waveform_checksum = 0;  ///< likewise of its waveform, where that is written
  std::string recording{};              ///< file that it is one of several clips of; empty: `name` is that file
};

/// The name of the clip of a file that begins at `start`: "FILE@10.000".
std::string clip_name(const std::string& file, Seconds start);
/// Where the clip of that name begins in its file; 0 where it is the file's own name.
Seconds start_of_clip_named(const std::string& name, const std::string& file);

/// Ties the features of a clip, or its waveform, to the file they were computed of.
std::uint64_t row_checksum(const std::string& name, std::span<const std::uint16_t> mel);
std::uint64_t row_checksum(const std::string& name, std::span<const float> waveform);

/// A part of a set that is to be written.
struct LabelledPart {
  const AudioGeometry& geometry;
  const std::vector<std::string>& labels;
  const std::vector<LabelledRow>& rows;
  /// The features of a row, [longs, shorts, n_mels, frames] in half precision.
  std::function<std::span<const std::uint16_t>(std::size_t row)> mel;
  /// Its waveform, [longs, shorts, short_samples]; only for write_waveform_part.
  std::function<std::span<const float>(std::size_t row)> waveform{};
};

/// Writes the part as HDF5 in the note's layout, so that `path` appears whole: segments_mel float16
/// [files, longs, shorts, n_mels, frames], labels int16 [files], the note's attributes, and beside them file_names,
/// groups and row_checksums; recordings where a file has several clips. Every written row is read again and held
/// against its checksum: Fault::internal names the first file whose row is another's, and nothing appears then.
Result<void> write_labelled_part(const std::filesystem::path& path, const LabelledPart& part);

/// Writes the part's waveforms in the same way: segments_waveform float32 [files, longs, shorts, short samples], and
/// feature_checksums, by which SetWaveforms knows the set that they belong to.
Result<void> write_waveform_part(const std::filesystem::path& path, const LabelledPart& part);

/// A part of a set as training reads it: mapped where its features begin, or in memory where the file has them in
/// chunks. Immutable; thread-safe.
class LabelledSet {
 public:
  /// Opens what write_labelled_part or note 003's builder wrote. Files whose features no recording has are left out,
  /// with a warning: values that are no numbers, and zeros alone, which that builder leaves of files that it cannot
  /// read. Fault::missing, or Fault::corrupt with the dataset, the shape found and the shape expected.
  static Result<std::shared_ptr<const LabelledSet>> open(const std::filesystem::path& path);
  /// The same set with two labels: `label`, which it has, and "NOT_LABEL" for all others. Shares the features.
  std::shared_ptr<const LabelledSet> one_against_rest(const std::string& label) const;

  const AudioGeometry& geometry() const { return geometry_; }
  const std::vector<std::string>& labels() const { return labels_; }
  std::int64_t files() const { return std::ssize(file_labels_); }
  /// Short segments, each a row of its own: files times segments.
  std::int64_t rows() const { return files() * geometry_.segments(); }
  std::int64_t file_of(std::int64_t row) const { return row / geometry_.segments(); }
  std::int16_t label_of_file(std::int64_t file) const { return file_labels_[static_cast<std::size_t>(file)]; }
  /// The name of a file; of a set without names its number.
  std::string name_of_file(std::int64_t file) const;
  /// The group that a file belongs to; of a set without groups its name.
  std::string group_of_file(std::int64_t file) const;
  /// The file that a clip belongs to: its own name, unless the file has several clips. Those are one after another.
  std::string recording_of_file(std::int64_t file) const;
  /// The clips [first, end) of each recording, in order.
  std::vector<std::pair<std::int64_t, std::int64_t>> recordings() const;
  /// The set of these files of it alone, in this order. Their features are copied.
  std::shared_ptr<const LabelledSet> of_files(std::span<const std::int64_t> files) const;
  /// This set and another of the same labels and geometry as one. All features are copied.
  std::shared_ptr<const LabelledSet> with(const LabelledSet& other) const;
  /// "NAME" where a clip is one segment, else "NAME#SEGMENT".
  std::string id_of(std::int64_t row) const;
  /// All features: [rows, n_mels, frames] in half precision.
  std::span<const std::uint16_t> mel() const { return mel_; }
  std::int64_t row_values() const { return geometry_.mel.n_mels * geometry_.frames(); }
  /// A digest of features and labels: a position fits a set that has the same.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  explicit LabelledSet(MappedFile file) : file_(std::make_shared<const MappedFile>(std::move(file))) {}
  Result<void> read(const std::filesystem::path& path);
  Result<void> read_files(const Hdf5File& open_file, const std::filesystem::path& path);
  std::vector<std::int64_t> unusable_files() const;
  void keep(std::span<const std::int64_t> files);

  std::shared_ptr<const MappedFile> file_;
  std::shared_ptr<const std::vector<std::byte>> copy_{};  // where the file has them in chunks or in another type
  AudioGeometry geometry_{};
  std::vector<std::string> labels_{};
  std::vector<std::int16_t> file_labels_{};
  std::vector<std::string> names_{};
  std::vector<std::string> groups_{};
  std::vector<std::string> recordings_{};  // of each clip; empty: each is its own
  std::span<const std::uint16_t> mel_{};
  std::uint64_t fingerprint_ = 0;
};

}  // namespace tutti
