#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/manifest/entry.h"

namespace tutti {

/// What the inputs of a command name and how they are read.
struct InputOptions {
  /// Relative paths of tables and manifests start here; empty: in the table's own folder. Those of lists and of
  /// standard input start in the current folder otherwise.
  std::filesystem::path audio_root{};
  ManifestRules rules{};
  std::int64_t skip = 0;   // leave out so many of the first
  bool all_files = false;  // take files of any name from folders, hidden ones too
  bool every_row = false;  // hand on a file as often as it is named: of a table each row may hold a part of its text
  /// Take addresses (transcribe/inputs/address.h), too: http, https and s3, and a folder of S3 ("s3://bucket/talks/").
  bool addresses = false;
};

/// What became of the files in folders that were searched. A hidden folder counts as one file.
struct FolderTally {
  std::int64_t taken = 0;
  std::int64_t other_names = 0;  // left out: not called like a recording
  /// These by their endings, with the dot and in lower case; "" for a name without one.
  std::map<std::string, std::int64_t> other_endings{};
  std::int64_t hidden = 0;   // left out: the name begins with a point
  std::int64_t special = 0;  // left out: pipes, sockets, devices, which never end or never begin

  std::int64_t left_out() const { return other_names + hidden + special; }
};

/// "12 .txt, 8 .jpg, 1 without an ending, 4 others": the most frequent endings, each with its count.
std::string endings_text(const std::map<std::string, std::int64_t>& endings);

/// "3 of 25 taken; 20 not audio by name (12 .txt, 8 .jpg), 2 hidden": for people. Empty: nothing was left out.
std::string folder_text(const FolderTally& tally);

/// What became of all that was named.
struct InputTally : ManifestTally {
  FolderTally folders{};
};

/// One recording to work on.
struct Input {
  std::filesystem::path file{};  // absolute, and it may be missing; or an address as it was named
  /// Its path in an output tree that mirrors the input: relative, without "..". It is the path below the named folder
  /// or below where the pattern starts. For a relative path in a list it is that path; for an absolute one it is what
  /// is below `audio_root` or the table's folder, else the whole of it. For a recording that was named itself it is its
  /// name. For an address it is its host and path; for one that was named itself, the path's last part.
  std::filesystem::path below{};
  ManifestEntry entry{};  // what a manifest holds about it; else the path alone

  /// "monday.mp3", also of an address.
  std::filesystem::path name() const;
};

struct InputSink {
  /// False stops the reading.
  std::function<bool(Input&& input)> input{};
  /// Something that was named and is not usable; the rest goes on.
  std::function<void(Error&& error)> problem{};
};

/// Reads what people name on the command line and hands each recording on as soon as it is found, in order: a folder
/// (searched for audio and video, sub-folders by name), a glob ("talks/*.mp3", "talks/**/*.mp3"), a list, table or
/// manifest (text/manifest/read.h, by extension), "-" (paths or JSON objects from standard input), else a recording.
/// The same file named twice is handed on once. Pipes, sockets and devices are taken only where they are named
/// themselves. Fails when a list or manifest cannot be read, a glob names nothing, a
/// folder that is written as one ("talks/") is none, or an argument is empty or an address that is not taken; such an
/// address in a list is a problem.
Result<InputTally> read_inputs(const std::vector<std::string>& arguments, const InputOptions& options,
                               const InputSink& sink);

/// Fault::usage where an input is no file of this machine but an address ("https://…"), or has no name at all.
Result<void> expect_local(const std::string& input);

/// Takes what a search of a folder finds.
struct FolderSink {
  /// A recording; false stops the search.
  std::function<bool(const std::filesystem::path& file)> found{};
  /// A folder that cannot be read.
  std::function<void(Error&& error)> problem{};
};

/// Every recording in a folder and in its sub-folders, in the order of names; a folder reached twice over links is
/// searched once. `all_files`: as InputOptions has it. What was taken and left out is added to `tally`.
void search_folder(const std::filesystem::path& folder, bool all_files, const FolderSink& sink, FolderTally& tally);

/// The files and folders that match a pattern, sorted. "**" matches any folders, also none; behind it only recordings
/// are found, or with `all_files` files of any name.
std::vector<std::filesystem::path> expand_glob(const std::string& pattern, bool all_files = false);

/// The folder that all lie in which a pattern means: "talks" of "talks/**/*.mp3".
std::filesystem::path glob_root(const std::string& pattern);

}  // namespace tutti
