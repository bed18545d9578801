#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "cli/prepare/done_recordings.h"
#include "cli/prepare/prepare_recording.h"

namespace tutti {

/// A corpus that `tutti train` reads: audio/ID.flac at 16 kHz, metadata.csv, transcripts/ID.json with the times within
/// each sample, and refused.jsonl with everything that was left out and why. Until it is done, done/ keeps what each
/// recording added, so that whatever ends us costs no more than the recordings in work. One thread.
class PreparedFolder {
 public:
  /// Fault::usage where `out` holds a corpus already, or part of one that was made with other settings. Part of one
  /// that was made with these is gone on with.
  static Result<PreparedFolder> create(const std::filesystem::path& out, const std::string& settings);

  /// Whether an earlier run has prepared this one: once for every time that it did.
  bool has(const std::filesystem::path& path);
  /// Writes the samples of a recording.
  Result<void> add(const std::filesystem::path& path, const PreparedRecording& prepared);
  /// A recording of which nothing could be taken.
  void refuse(const std::filesystem::path& path, const std::string& reason);
  /// Writes the lists; with metadata.csv the corpus can be learned. `ended`: nothing is to be added any more.
  Result<void> finish(bool ended) const;
  const PreparedTotals& totals() const { return totals_; }

 private:
  explicit PreparedFolder(std::filesystem::path out) : out_(std::move(out)) {}
  Result<void> go_on(const std::string& settings);
  std::filesystem::path done_file(int number) const;
  std::string name_for(const std::filesystem::path& path);
  Result<void> write(const std::string& id, const PreparedRecording& prepared, const PreparedPiece& piece);

  std::filesystem::path out_;
  int kept_ = 0;                         // recordings in done/
  std::map<std::string, int> before_{};  // of them, those of an earlier run that has() was not asked for yet
  std::map<std::string, int> names_{};
  std::string metadata_{};
  std::string refused_{};
  PreparedTotals totals_{};
};

}  // namespace tutti
