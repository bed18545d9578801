#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "feed/source/dataset.h"
#include "feed/source/line_index.h"
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

/// Whether a file is there, which is no folder, pipe or device.
bool is_file(const std::filesystem::path& path);

/// The file that a list names, with or without its ending, or with that of the format it was converted from. Looks in
/// the folders' own order, then in `wavs`, `wav`, `audio`, `clips` and at the base, and for a path also one folder
/// above that. A backslash may separate folders. None: there is no such file.
std::optional<std::filesystem::path> find_recording(const RecordingFolders& folders, const std::string& named);

/// The file at a path that another tool wrote, which began where that ran: at `base`, in one of three folders above it,
/// or where this program runs. Where there is none, below the base.
std::filesystem::path path_from_above(const std::filesystem::path& base, const std::string& named);

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

/// Whether a line of JSON is one of Lhotse's cuts.
bool is_lhotse_cut(std::string_view line);

/// Lhotse's cuts, one a line. A sample is a MonoCut of a recording with one channel, as its file holds it; its text is
/// that of its supervisions. Words with times are those of its alignment, else its supervisions. Other cuts are bad
/// samples. `fields`: further keys to keep, of the cut or its "custom".
Result<std::unique_ptr<Dataset>> open_lhotse_cuts(LineIndex cuts, const std::filesystem::path& index,
                                                  std::vector<std::string> fields);

/// A folder of Kaldi's: `wav.scp` and `text`, and `segments` and `utt2spk` where they are there. A sample is a line of
/// `text`. No command of wav.scp is run: one that only decodes a file names it (file_of_command).
Result<std::unique_ptr<Dataset>> open_kaldi(const std::filesystem::path& folder);

/// Whether `data` names shards, in place of a folder or a list: a .tar, several by braces (set-{000..012}.tar), or
/// "pipe:" and a command that writes one, which may have braces, too.
bool names_shards(const std::string& data);

/// The shards of a folder, in order, of a split where one is named: in its own folder, or by the start of their names.
std::vector<std::filesystem::path> shards_in(const std::filesystem::path& folder, const std::string& split);

/// WebDataset's shards: files of one sample are neighbours in a tar and have one name up to its first dot. A sample is
/// a recording (any known ending) with KEY.txt, or KEY.json with a text. Headers are read now, so that samples are read
/// in any order. What a command writes is kept in unnamed files of the temporary folder.
Result<std::unique_ptr<Dataset>> open_shards(const std::vector<std::string>& shards, std::vector<std::string> fields);
/// The same of what `data` names (names_shards).
Result<std::unique_ptr<Dataset>> open_named_shards(const std::string& data, std::vector<std::string> fields);

/// Recordings with NAME.json beside them.
Result<std::unique_ptr<Dataset>> open_transcripts(const std::filesystem::path& folder);

/// The one file that a shell command of a list decodes and writes to its output, with all of its audio, such as
/// "flac -c -d -s a.flac |". Lists of Kaldi's and Lhotse's have such commands, and the feed decodes these files itself:
/// a process for each sample would cost more than the decoding, and nothing that a list names is ever run.
///
/// Understood are:
///  * `cat FILE`;
///  * `flac -d -c FILE`, also `-cds`;
///  * `sph2pipe -f wav FILE` without a channel;
///  * `sox FILE -t wav -` without an effect, at 16 kHz or more;
///  * `ffmpeg -i FILE -f wav -` without a filter or a time, at 16 kHz or more.
///
/// Fault::unsupported for any other command, which is named.
Result<std::string> file_of_command(std::string_view command);

/// What precedes a command in place of a file.
inline constexpr std::string_view kPipe = "pipe:";

/// The file that holds what a shell command has written to its output: in the cache's folder `shards`, by the command.
/// The first call runs it and waits, also for another process that runs it; later ones find the file, so that a
/// training reads the same bytes when it goes on. Where it fails nothing is kept. The command's errors go to the log.
///
/// Fault::unavailable: the command failed, or wrote nothing; else what kept the file from being written.
Result<std::filesystem::path> file_of_pipe(const std::string& command);

/// The texts of a pattern, in order, as a shell expands its braces: "set-{08..10}.tar" is set-08.tar,
/// set-09.tar and set-10.tar, "{a,b}-{0..1}" is four texts. Braces with neither ".." between numbers nor a comma stay
/// as they are. More than `most` texts are none.
std::vector<std::string> expand_braces(std::string_view pattern, std::size_t most = 1'000'000);

/// Gives a line the stretch of its file that it names. NeMo's manifests cut with offset and duration: behind a start a
/// duration is where the sample ends; only without one is it the file's own.
void set_span(DatasetLine& line, std::optional<double> start, std::optional<double> end,
              std::optional<double> duration);

}  // namespace tutti
