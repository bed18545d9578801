#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
  std::int64_t skip = 0;  // leave out so many of the first
};

/// One recording to work on.
struct Input {
  std::filesystem::path file{};  // absolute; it may be missing
  /// Its place in an output tree that mirrors the input: relative, without "..". Below the folder that was named or
  /// where the pattern starts; of a relative path in a list that path; of an absolute one what is below `audio_root`
  /// or the table's folder, else the whole of it; and of a recording that was named itself its name.
  std::filesystem::path below{};
  ManifestEntry entry{};  // what a manifest says of it; else the path alone
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
/// The same file named twice is handed on once. Fails when a list or manifest cannot be read, a glob names nothing, a
/// folder that is written as one ("talks/") is none, or an argument is an address or empty; an address in a list is a
/// problem.
Result<ManifestTally> read_inputs(const std::vector<std::string>& arguments, const InputOptions& options,
                                  const InputSink& sink);

/// Fault::usage where an input is no file of this machine but an address ("https://…"), or has no name at all.
Result<void> expect_local(const std::string& input);

/// Every recording in a folder and in its sub-folders, in the order of names; hidden ones are left out, a folder
/// reached twice over links is searched once. `found` answers whether to go on. Folders that cannot be read are
/// problems.
void search_folder(const std::filesystem::path& folder,
                   const std::function<bool(const std::filesystem::path& file)>& found,
                   const std::function<void(Error&& error)>& problem);

/// The files and folders that a pattern means, sorted. "**" stands for any folders, also none.
std::vector<std::filesystem::path> expand_glob(const std::string& pattern);

/// The folder that all lie in which a pattern means: "talks" of "talks/**/*.mp3".
std::filesystem::path glob_root(const std::string& pattern);

}  // namespace tutti
