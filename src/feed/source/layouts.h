#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/source/dataset.h"
#include "feed/source/list_columns.h"

namespace tutti {

/// Where the files of a list are.
struct RecordingFolders {
  std::filesystem::path base{};   ///< relative names start here
  std::filesystem::path audio{};  ///< bare file names start here; empty: at `base`
  std::string usual_ending{};     ///< file ending of bare names without one, ".mp3"; empty: they have none
};

/// The folders of a list in `base`: audio/ and Common Voice's clips/, whose first versions name clips without an
/// ending.
RecordingFolders folders_of(const std::filesystem::path& base);

/// Where the file that a list names should be: a path below the base, a bare name in the folder of the audio. Does not
/// look whether it is there.
std::filesystem::path usual_path(const RecordingFolders& folders, const std::string& named);

/// The file that a list names, with or without its ending, or with that of the format it was converted from. Looks in
/// the folders' own order, then in `wavs`, `wav`, `audio`, `clips` and at the base, and for a path also one folder
/// above that. A backslash may separate folders. None: there is no such file.
std::optional<std::filesystem::path> find_recording(const RecordingFolders& folders, const std::string& named);

// The layouts that open_dataset knows; `index` is the file that lists the samples.

/// How a list is read.
struct ListRequest {
  ListContent content = ListContent::texts;
  RecordingFolders folders{};           ///< where its files are
  std::filesystem::path transcripts{};  ///< ID.json in it knows the times; empty: none does
  std::vector<std::string> fields{};    ///< further columns to keep
};

/// A list whose lines are rows: CSV (RFC 4180), with tabs, semicolons or bars between its columns, with the names of
/// these in its first line or without. Where bars part rows without quotes (LJSpeech), ids are names of files in wavs/,
/// with any known ending, and a row without a recording is Fault::missing.
///
/// Fault::corrupt where its header names no audio or no text, Fault::usage where columns without names cannot be
/// recognised, or none has the name of a requested field.
Result<std::unique_ptr<Dataset>> open_rows(const std::filesystem::path& index, ListRequest request);

/// JSON: an object a line, a list of objects, or an object with such a list under "assets" or "data".
Result<std::unique_ptr<Dataset>> open_json(const std::filesystem::path& index, ListRequest request);

/// Recordings with NAME.json beside them.
Result<std::unique_ptr<Dataset>> open_transcripts(const std::filesystem::path& folder);

/// Gives a line the stretch of its file that it names. NeMo's manifests cut with offset and duration: behind a start a
/// duration is where the sample ends; only without one is it the file's own.
void set_span(DatasetLine& line, std::optional<double> start, std::optional<double> end,
              std::optional<double> duration);

}  // namespace tutti
