#include "transcribe/inputs/inputs.h"

#include <iostream>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/new_file.h"
#include "base/try.h"
#include "text/manifest/read.h"
#include "transcribe/inputs/address.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// "talk.mp3/" is called talk.mp3.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// A relative path that stays below whatever it is put under.
fs::path tame(const fs::path& path) {
  fs::path below;
  for (const auto& part : path.lexically_normal().relative_path())
    if (part != "..") below /= part;
  return without_slash(below);
}

fs::path plain(const fs::path& path) {
  return without_slash(fs::absolute(path).lexically_normal());
}

/// The path of a file in a tree that starts at `root`, both plain. A file elsewhere keeps its whole path, so that no
/// two files have one path, in this run or in a later one over another list.
fs::path path_below(const fs::path& root, const fs::path& file) {
  const fs::path below = file.lexically_relative(root);
  return tame(below.empty() || *below.begin() == ".." ? file : below);
}

/// Where a table's bare file name means its recording: beside it, else in the folder of recordings that sets have
/// there: clips/ in Common Voice's, whose first versions name clips without their ending, and audio/.
fs::path recording_of_table(const fs::path& folder, const fs::path& name) {
  std::error_code ignored;
  if (name.has_parent_path() || fs::exists(folder / name, ignored)) return folder / name;
  for (const char* below : {"clips", "audio"})
    for (const char* ending : {"", ".mp3"})
      if (fs::path file = folder / below / (name.string() + ending); fs::exists(file, ignored)) return file;
  return folder / name;
}

/// Takes one argument after the other.
class Reading {
 public:
  Reading(const InputOptions& options, const InputSink& sink) : options_(options), sink_(sink) {}

  bool goes_on() const { return goes_on_; }
  const InputTally& tally() const { return tally_; }

  Result<void> read(const std::string& argument) {
    if (auto usable = expect_usable(argument); !usable) return usable;
    if (is_address(argument)) return address(argument);
    std::error_code why;
    if (argument == "-")
      return add(read_manifest_stream(std::cin, "standard input", options_.rules, entries_below("")));
    if (fs::is_directory(argument, why)) return folder(argument, plain(argument));
    const bool is_pattern = argument.find_first_of("*?[{") != std::string::npos;
    if (argument.ends_with('/') && !is_pattern)  // it is no recording that may come later: a folder is intended
      return tl::unexpected(system_error(argument, "the folder cannot be read", why.value()));
    if (const auto format = manifest_format(argument)) {
      const bool is_list = *format == ManifestFormat::list;
      const fs::path folder = is_list ? fs::path() : plain(argument).parent_path();
      return add(read_manifest(fs::path(argument), *format, options_.rules, entries_below(folder)));
    }
    if (!is_pattern || fs::exists(argument, why)) return file(argument, fs::path(argument).filename());
    const auto matches = expand_glob(argument, options_.all_files);
    if (matches.empty())
      return fail(Fault::usage,
                  "'" + argument +
                      "': expected a pattern that matches files, found none. Check the folder that it begins with");
    const fs::path root = plain(glob_root(argument));
    for (const auto& match : matches)
      if (goes_on_) matched(match, root);
    return {};
  }

 private:
  Result<void> expect_usable(const std::string& input) const {
    if (!options_.addresses || !is_address(input)) return expect_local(input);
    const bool is_folder = is_s3_path(input) && input.ends_with('/');
    return expect_fetchable(is_folder ? input + "folder" : input);
  }

  Result<void> address(const std::string& argument) {
    if (!argument.ends_with('/') || !is_s3_path(argument))
      return add_address(argument, path_of_address(argument).filename());
    AddressFetch fetch([] { return true; });
    const auto found = TRY(fetch.recordings_below(argument));
    for (const auto& recording : found)
      if (goes_on_) add_address(recording, path_below(path_of_address(argument), path_of_address(recording)));
    return {};
  }

  Result<void> add_address(const std::string& address, fs::path below) {
    ++tally_.taken;
    hand_on({address, std::move(below), {.path = address}});
    return {};
  }

  /// A pattern's matches were not named by the user: a pipe or a socket may be among them, as in a folder.
  void matched(const fs::path& match, const fs::path& root) {
    std::error_code why;
    if (fs::is_directory(match, why))
      folder(match, root);
    else if (fs::is_other(match, why))
      ++tally_.folders.special;
    else
      file(match, path_below(root, plain(match)));
  }

  Result<void> folder(const fs::path& folder, const fs::path& root) {
    const FolderSink sink{[&](const fs::path& found) {
                            ++tally_.taken;
                            fs::path file = plain(found);
                            fs::path below = path_below(root, file);
                            return hand_on({std::move(file), std::move(below), {.path = found.string()}});
                          },
                          [&](Error&& error) {
                            ++tally_.unusable;
                            sink_.problem(std::move(error));
                          }};
    search_folder(folder, options_.all_files, sink, tally_.folders);
    return {};
  }

  Result<void> file(const fs::path& file, fs::path below) {
    ++tally_.taken;
    hand_on({plain(file), std::move(below), {.path = file.string()}});
    return {};
  }

  /// `folder`: a table's own; empty: the lines of a list, which may be anywhere.
  ManifestSink entries_below(const fs::path& folder) {
    const fs::path& begins = options_.audio_root.empty() ? folder : options_.audio_root;
    const fs::path root = (fs::current_path() / begins).lexically_normal();
    // An absolute path means the same file in every working directory, and so it has the same path in the tree. Else
    // the same command, from another folder, would do all of a list again.
    const fs::path tree = begins.empty() ? fs::path("/") : root;
    const bool is_tables = !folder.empty() && options_.audio_root.empty();
    return {[this, root, tree, is_tables](ManifestEntry&& entry) {
              if (const auto usable = expect_usable(entry.path); !usable) return unusable(entry, usable.error());
              if (is_address(entry.path)) return listed_address(std::move(entry));
              const fs::path path = entry.path;
              fs::path file = plain(is_tables ? recording_of_table(root, path) : root / path);
              fs::path below = path.is_absolute() ? path_below(tree, file) : tame(path);
              return hand_on({std::move(file), std::move(below), std::move(entry)});
            },
            sink_.problem};
  }

  bool listed_address(ManifestEntry&& entry) {
    fs::path file = entry.path, below = path_of_address(entry.path);
    return hand_on({std::move(file), std::move(below), std::move(entry)});
  }

  /// The manifest's reader has counted it as taken.
  bool unusable(const ManifestEntry& entry, const Error& why) {
    --tally_.taken;
    ++tally_.unusable;
    sink_.problem({why.fault, entry.origin + ": " + why.what, why.hint});
    return goes_on_;
  }

  bool hand_on(Input&& input) {
    if (!options_.every_row && !seen_.insert(input.file.string()).second) return goes_on_;
    if (skipped_ < options_.skip) return ++skipped_, goes_on_;
    return goes_on_ = sink_.input(std::move(input));
  }

  Result<void> add(const Result<ManifestTally>& read) {
    TRY(read);
    tally_.taken += read->taken;
    tally_.unusable += read->unusable;
    tally_.other_type += read->other_type;
    tally_.excluded += read->excluded;
    tally_.deleted += read->deleted;
    return {};
  }

  const InputOptions& options_;
  const InputSink& sink_;
  InputTally tally_;
  std::unordered_set<std::string> seen_;
  std::int64_t skipped_ = 0;
  bool goes_on_ = true;
};

}  // namespace

fs::path Input::name() const {
  return is_address(file.native()) ? below.filename() : file.filename();
}

Result<void> expect_local(const std::string& input) {
  if (input.empty())
    return fail(Fault::usage, "expected a file, found an empty name", "A variable of the shell may be empty");
  if (auto named = expect_no_nul(input); !named) return named;
  if (!is_address(input)) return {};
  return fail(Fault::usage, "'" + input + "': expected a file of this machine, found an address",
              "Inputs must be local files: download it first, and name its path");
}

Result<InputTally> read_inputs(const std::vector<std::string>& arguments, const InputOptions& options,
                               const InputSink& sink) {
  Reading reading(options, sink);
  for (const auto& argument : arguments) {
    if (!reading.goes_on()) break;
    TRY(reading.read(argument));
  }
  return reading.tally();
}

}  // namespace tutti
