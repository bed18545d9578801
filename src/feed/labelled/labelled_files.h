#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The parts of a training set. `none`: a file whose part is still to be drawn.
enum class SetPart { none, training, validation, testing };

/// "training", "validation", "testing"; "" for none.
const char* name_of(SetPart part);

/// The part that a folder or a column's value names: train, training, validation, valid, val, dev, test, testing, eval,
/// evaluation, in either case, and with note 003's "DATASET_" before it; else none.
SetPart part_of(std::string name);

/// A file of audio and its label.
struct LabelledFile {
  std::filesystem::path path{};
  std::string name{};   ///< the path below the data's folder, for people and for the order
  std::string label{};  ///< the folder directly below the data's, or below its part's
  SetPart part = SetPart::none;
  std::string group{};  ///< files of one group are never in two parts; empty: not decided yet
};

/// The labelled files of a folder or a list, by name.
struct LabelledFiles {
  std::vector<LabelledFile> files{};
  std::int64_t others = 0;  ///< files that are no audio by their ending, or have no label: left out
  /// Those that are no audio by their endings, with the dot and in lower case; "" for a name without one.
  std::map<std::string, std::int64_t> other_endings{};
  std::vector<std::string> unread{};  ///< folders beside those of the parts that are none, each with its count of files
};

/// Finds the files below DIR/LABEL or DIR/PART/LABEL, where a PART is called train, validation, test and the like.
/// A list (read_labelled_manifest) gives them instead of a folder; its paths begin at `root`. Fault::missing where
/// there is no such folder, Fault::usage where it has no label's folder with audio, or parts and none for training.
Result<LabelledFiles> find_labelled_files(const std::filesystem::path& data, const std::filesystem::path& root = {});

/// Whether a path is called like a list of labelled files: .csv, .tsv, .txt, .jsonl, .ndjson, .json.
bool is_labelled_manifest(const std::filesystem::path& path);

/// Reads a list of labelled files by open_labelled_list (feed/source/dataset.h): a table with names in its first line,
/// rows of a file and its label, or JSON. Paths that are not absolute begin at `root`. Columns, the first of each that
/// is filled:
///
/// * the file: path, audio, audio_path, audio_filepath, audio_file, file, filename, wav, file_name, slice_file_name, id
/// * the label: label, class, category, class_name, target
/// * what belongs together: group, speaker, speaker_id, sensor, recording, src_file, fold, or another name of the
///   speaker (may be missing or empty)
/// * the part: split, part, subset (train, validation, test and the like; may be missing or empty)
///
/// Either case. What is concluded of how the list is to be read is logged as a warning. Fault::missing for a list that
/// is not there; Fault::usage with the line for a record without file or label, or with an unknown part, and for a list
/// that names nothing.
Result<LabelledFiles> read_labelled_manifest(const std::filesystem::path& path, const std::filesystem::path& root);

/// Gives labels that people read as one the same spelling: those that differ in upper and lower case, in blanks, in
/// how Unicode composes their characters, or in characters that do not show. The spelling that most files have counts,
/// composed and without blanks around it; labels that are alone stay as they are. Returns a sentence for each label
/// that was merged, with all its spellings. Pure.
std::vector<std::string> merge_like_labels(std::vector<LabelledFile>& files);

/// sensor~recording~timestamp~gain.wav, as note 003 names its files.
struct SensorName {
  std::string sensor{};
  std::string recording{};
  int gain_db = 0;
};

/// None where the stem has another form.
std::optional<SensorName> sensor_name_of(const std::filesystem::path& path, const std::string& delimiter);

}  // namespace tutti
