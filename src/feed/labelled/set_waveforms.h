#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "feed/labelled/labelled_set.h"

namespace tutti {

inline constexpr const char* kWaveforms = "segments_waveform";  // the dataset

/// Where the waveforms of a set's part are: TRAINING_WAVEFORMS.H5, VALIDATION_WAVEFORMS.H5, TESTING_WAVEFORMS.H5.
std::filesystem::path waveform_file(const std::filesystem::path& set, SetPart part);

/// The waveforms of a part's clips, mapped: in a file of their own as write_waveform_part writes them, or beside the
/// features as note 003's builder does. Immutable; thread-safe.
class SetWaveforms {
 public:
  /// Those of `features`, which is the part of `set`; none where the set has none. Fault::corrupt with the dataset, the
  /// shape found and the shape expected; Fault::usage where they are of another set.
  static Result<std::optional<SetWaveforms>> open(const std::filesystem::path& set, SetPart part,
                                                  const LabelledSet& features);

  /// The clip of a file at the geometry's rate: [clip_samples]. Fault::corrupt where its checksum is not that file's.
  Result<std::vector<float>> clip(std::int64_t file) const;

 private:
  explicit SetWaveforms(MappedFile file) : file_(std::move(file)) {}

  MappedFile file_;
  std::filesystem::path path_{};
  AudioGeometry geometry_{};
  std::int64_t offset_ = 0;
  std::vector<std::string> names_{};        // of the files
  std::vector<std::uint64_t> checksums_{};  // empty: the note's builder takes none
};

}  // namespace tutti
