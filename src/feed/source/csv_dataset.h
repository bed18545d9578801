#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "feed/source/dataset.h"
#include "text/manifest/field_names.h"

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
  std::string usual_ending{};           ///< of bare names without one, ".mp3"; empty: they have none
};

/// A table with a header; `separator` parts its columns.
Result<std::unique_ptr<Dataset>> open_table(const std::filesystem::path& index, char separator, TableFolders folders,
                                            const std::vector<std::string>& fields);

/// The column of a header that has one of `names`, in upper or lower case; -1: none has.
int column_of(const std::vector<std::string>& header, std::span<const char* const> names);

/// JSON: an object a line, a list of objects, or an object with such a list under "assets" or "data".
Result<std::unique_ptr<Dataset>> open_json(const std::filesystem::path& index, const std::vector<std::string>& fields);

/// Recordings with NAME.json beside them.
Result<std::unique_ptr<Dataset>> open_transcripts(const std::filesystem::path& folder);

/// Where a sample's audio is named, of the names in text/manifest/field_names.h the first that a set has.
inline constexpr std::array<const char*, 9> kAudioNames{"audio", "audio_file", "audio_filepath", "audio_path", "file",
                                                        "path",  "wav",        "filename",       kFileName};

/// Gives a line the stretch of its file that it names. NeMo's manifests cut with offset and duration: behind a start a
/// duration is where the sample ends; only without one is it the file's own.
void set_span(DatasetLine& line, std::optional<double> start, std::optional<double> end,
              std::optional<double> duration);

}  // namespace tutti
