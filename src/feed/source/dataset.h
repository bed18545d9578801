#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "feed/timed_text.h"

namespace tutti {

/// Bytes [begin, end) of a file.
struct FileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

/// One line of a set: where the audio is and its text, or its label.
struct DatasetLine {
  std::string id{};
  std::filesystem::path audio{};
  std::optional<FileRange> member{};  ///< the bytes of `audio` that are the recording, as of a tar; none: all
  std::string text{};
  std::string named{};                ///< the audio, as the line names it
  std::string speaker{};              ///< empty: not known
  std::string label{};                ///< of lists that are read for labels, with the two below
  std::string group{};                ///< what belongs together; empty: not known
  std::string part{};                 ///< "train" and the like, as it is written; empty: none
  std::vector<std::string> fields{};  ///< values of the requested columns
  std::optional<double> start{};      ///< seconds within the file; none: from its start
  std::optional<double> end{};        ///< none: to its end
  std::optional<double> duration{};   ///< seconds, as the line claims
  bool is_noise = false;              ///< it holds no speech, and that is intended
  std::filesystem::path times{};      ///< a JSON transcript with the times of the text; empty: none known
  /// The line's own times of words, or of parts of them; the first part of a word has its space.
  std::vector<TimedText> words{};
};

/// A set of recordings with text, line by line. Nothing is read before it is needed: a million lines cost an index of
/// offsets. Immutable; thread-safe.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual std::int64_t size() const = 0;
  /// Line `index` of [0, size()). Fault::corrupt for a line that cannot be one, with the id as far as it is known.
  virtual Result<DatasetLine> at(std::int64_t index) const = 0;
  /// The text of line `index`, also where its recording is not there. Errors as `at`.
  virtual Result<std::string> text(std::int64_t index) const {
    return at(index).map([](const DatasetLine& line) { return line.text; });
  }
  /// The id of line `index`, also of a bad one: its own, else FILE:LINE.
  virtual std::string id(std::int64_t index) const = 0;
  /// A digest of the index: another set, another digest.
  virtual std::uint64_t fingerprint() const = 0;
  /// The line for people, "list.csv:12".
  virtual std::string origin(std::int64_t index) const { return id(index); }
  /// What was concluded of how the set is to be read, for people; empty: it states all itself. Readers log it once, as
  /// a warning.
  virtual std::string conclusion() const { return {}; }
  /// The names of its columns that nothing is read of; none where it has no columns with names.
  virtual std::vector<std::string> unread() const { return {}; }
};

/// Opens the data set at `data`:
///  * a folder with metadata.csv in LJSpeech's layout (`id|text|normalised text`; wavs/ID.wav, .flac or whichever known
///    ending is there), also metadata_train.csv and metadata_eval.csv (`split` "train" and "validation" or "test");
///  * a folder in the Morse layout: metadata.csv with the header `id,audio_file,text,...`, audio/, and splits/NAME.csv
///    for `split` NAME; transcripts/ID.json, where there is one, holds the times;
///  * Hugging Face's audiofolder: metadata.csv or .jsonl with `file_name` and a text, in the folder or in one of its
///    folders train/, validation/ and test/, which are splits;
///  * Common Voice's layout: train.tsv, dev.tsv, test.tsv, validated.tsv (splits; without one the last) and clips/;
///  * a .csv, .tsv, .jsonl or .json manifest: columns (or keys) audio and text, optional id, start, end, duration, in
///    JSON also words, a list as transcripts have it, in seconds from the sample's start; docs/feed.md has the other
///    names that are understood. A .json is a list of objects, or an object with one under "assets" or "data";
///  * Lhotse's cuts in a .jsonl or .jsonl.gz;
///  * a folder of Kaldi's with wav.scp, text, and perhaps segments and utt2spk; one in it is a split of its name;
///  * WebDataset's shards: a folder of .tar, one of them, set-{000..012}.tar, or "pipe:COMMAND" that writes one;
///  * a folder of recordings with transcripts as `tutti batch` and `tutti transcribe` write them: NAME.json beside
///    NAME.wav (or whatever audio).
/// Lists may have a header or none, a mark of UTF-8 or UTF-16, Windows-1252, comments and any line ends; columns
/// without names are recognised by their content (feed/source/column_guess.h). All readers of recordings, texts,
/// speakers and labels open them by this function or the next. `fields` names further columns to keep. Relative audio
/// paths start at the manifest's folder.
Result<std::unique_ptr<Dataset>> open_dataset(const std::filesystem::path& data, const std::string& split,
                                              const std::vector<std::string>& fields);

/// Opens a list of labelled files, .csv, .tsv, .txt, .jsonl or .json: columns (or keys) of audio and label, optional
/// group and part; without names of columns, the files and their labels. Relative paths start at `root`.
Result<std::unique_ptr<Dataset>> open_labelled_list(const std::filesystem::path& list,
                                                    const std::filesystem::path& root);

/// The file in a folder that lists its recordings with their texts, as open_dataset finds it; empty: there is none, or
/// it is LJSpeech's, which has no header.
std::filesystem::path table_in(const std::filesystem::path& folder);

}  // namespace tutti
