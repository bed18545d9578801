#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti {

/// Finds the recording that a transcript was made of, by its name: `talk.json` is of talk.mp3 (or any other sound or
/// video), `talk.mp3.json` of talk.mp3.
class RecordingIndex {
 public:
  /// Looks for recordings below `root`, folders in it included; an empty root: only beside each transcript.
  explicit RecordingIndex(const std::filesystem::path& root);

  /// None where there is none, or where several of that name leave it open which: then the one whose folder is named as
  /// the transcript's wins.
  std::optional<std::filesystem::path> recording_of(const std::filesystem::path& transcript) const;

 private:
  using ByName = std::multimap<std::string, std::filesystem::path>;
  static void add(ByName& by_name, const std::filesystem::path& file);
  static ByName beside(const std::filesystem::path& folder);

  bool has_root_ = false;
  ByName by_name_;  // file name, and file name without extension
};

}  // namespace tutti
