#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "feed/source/dataset.h"
#include "text/manifest/field_names.h"

namespace tutti {

/// The fields of one line of CSV (RFC 4180: quotes around a field, doubled inside) or of another separator. An unclosed
/// quote is part of its text.
std::vector<std::string> separated_fields(std::string_view line, char separator);

/// Where the line that begins at `at` ends: the offset of its newline, or the text's end. A newline within a quoted
/// field, as separated_fields knows it, belongs to the line.
std::size_t separated_line_end(std::string_view text, std::size_t at, char separator);

/// The lines of a mapped text file, any of them in constant time. Remembers where every sixteenth begins: a million
/// lines are indexed in some 20 ms and half a megabyte. Empty lines do not count. Immutable; thread-safe.
class LineIndex {
 public:
  /// Opens a text in UTF-8, or in UTF-16 with its mark. `separator`: of a table such as CSV, where a newline within a
  /// quoted field belongs to its line; none: every newline ends one.
  static Result<LineIndex> open(const std::filesystem::path& path, std::optional<char> separator = {});

  std::int64_t size() const { return size_; }
  /// Without its end; also of "\r\n".
  std::string_view line(std::int64_t index) const;
  /// Drops the first line: a header.
  void skip_first() { ++skipped_, --size_; }
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  LineIndex(MappedFile file, std::optional<char> separator) : file_(std::move(file)), separator_(separator) {}
  std::string_view text() const { return converted_ ? std::string_view(*converted_) : file_.text(); }
  void build();
  /// The end of the line that begins at `at`: the offset of its newline, or the text's end.
  std::size_t end_of(std::size_t at) const;
  /// The first line at or after `at` that is not empty.
  std::size_t next_start(std::size_t at) const;

  MappedFile file_;
  std::unique_ptr<const std::string> converted_{};  // its content as UTF-8, where it is UTF-16
  std::optional<char> separator_;                   // none also where nothing is quoted: newlines are found faster so
  std::vector<std::uint64_t> starts_;               // offset of every kStride-th line
  std::int64_t size_ = 0;
  std::int64_t skipped_ = 0;
  std::uint64_t fingerprint_ = 0;
};

// The layouts that open_dataset knows; `index` is the file that lists the samples.

/// LJSpeech: `id|text|normalised text` (or two fields), and wavs/ID with any known ending beside it. The text is the
/// normalised one. A line whose recording is missing is Fault::missing.
Result<std::unique_ptr<Dataset>> open_ljspeech(const std::filesystem::path& index);

/// Where a table's audio is looked for.
struct TableFolders {
  std::filesystem::path base{};         ///< relative names start here
  std::filesystem::path audio{};        ///< bare file names start here; empty: at `base`
  std::filesystem::path transcripts{};  ///< ID.json in it knows the times; empty: none does
  std::string usual_ending{};           ///< file ending of bare names without one, ".mp3"; empty: they have none
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
