#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The parts of a training set. `none`: a file whose part is still to be drawn.
enum class SetPart { none, training, validation, testing };

/// "training", "validation", "testing"; "" for none.
const char* name_of(SetPart part);

/// A file of sound and its label.
struct LabelledFile {
  std::filesystem::path path{};
  std::string name{};   ///< the path below the data's folder, for people and for the order
  std::string label{};  ///< the folder directly below the data's, or below its part's
  SetPart part = SetPart::none;
  std::string group{};  ///< files of one group are never in two parts; empty: not decided yet
};

/// The labelled files of a folder, by name.
struct LabelledFiles {
  std::vector<LabelledFile> files{};
  std::int64_t others = 0;  ///< files that are no sound by their ending, or have no label: left out
};

/// Finds the files below DIR/LABEL or DIR/PART/LABEL, where a PART is called train, validation, test and the like.
/// Fault::missing where there is no such folder, Fault::usage where it has no label's folder with sound.
Result<LabelledFiles> find_labelled_files(const std::filesystem::path& data);

/// sensor~recording~timestamp~gain.wav, as note 003 names its files.
struct SensorName {
  std::string sensor{};
  std::string recording{};
  int gain_db = 0;
};

/// None where the stem has another form.
std::optional<SensorName> sensor_name_of(const std::filesystem::path& path, const std::string& delimiter);

}  // namespace tutti
