#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "feed/source/dataset.h"

namespace tutti {

// The layouts that open_dataset knows; `index` is the file that lists the samples.

/// LJSpeech: `id|text|normalised text` (or two fields), and wavs/ID with any known ending beside it. The text is the
/// normalised one. A line whose recording is missing is Fault::missing.
Result<std::unique_ptr<Dataset>> open_ljspeech(const std::filesystem::path& index);

/// Where a table's audio is looked for.
struct TableFolders {
  std::filesystem::path base{};         ///< relative names start here
  std::filesystem::path audio{};        ///< bare file names start here; empty: at `base`
  std::filesystem::path transcripts{};  ///< ID.json in it knows the times; empty: none does
};

/// CSV or TSV with a header.
Result<std::unique_ptr<Dataset>> open_table(const std::filesystem::path& index, TableFolders folders,
                                            const std::vector<std::string>& fields);

/// One JSON object a line.
Result<std::unique_ptr<Dataset>> open_json_lines(const std::filesystem::path& index,
                                                 const std::vector<std::string>& fields);

/// Recordings with NAME.json beside them.
Result<std::unique_ptr<Dataset>> open_transcripts(const std::filesystem::path& folder);

/// The names under which manifests of other tools give the same thing, the first being ours.
inline const std::vector<std::string> kAudioNames{"audio", "audio_file", "audio_filepath", "file", "path", "wav"};
inline const std::vector<std::string> kTextNames{"text", "transcript", "transcription", "sentence"};
inline const std::vector<std::string> kStartNames{"start", "offset"};

/// Gives a line the place in its file that it names. NeMo's manifests cut with offset and duration: behind a start a
/// duration is where the sample ends; only without one is it the file's own.
void set_place(DatasetLine& line, std::optional<double> start, std::optional<double> end,
               std::optional<double> duration);

}  // namespace tutti
