#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "cli/prepare/prepare_recording.h"

namespace tutti {

/// What a corpus holds so far.
struct PreparedTotals {
  std::int64_t samples = 0;
  Seconds audio{};           // of the samples
  std::int64_t refused = 0;  // units of text, and recordings as a whole
};

/// A corpus that `tutti train` reads: audio/ID.flac at 16 kHz, metadata.csv, transcripts/ID.json with the times within
/// each sample, and refused.jsonl with everything that was left out and why. One thread.
class PreparedFolder {
 public:
  /// Fault::usage where `out` holds a corpus already.
  static Result<PreparedFolder> create(const std::filesystem::path& out);

  /// Writes the samples of a recording.
  Result<void> add(const std::filesystem::path& path, const PreparedRecording& prepared);
  /// A recording of which nothing could be taken.
  void refuse(const std::filesystem::path& path, const std::string& reason);
  /// Writes the lists; with metadata.csv the corpus is whole.
  Result<void> finish() const;
  const PreparedTotals& totals() const { return totals_; }

 private:
  explicit PreparedFolder(std::filesystem::path out) : out_(std::move(out)) {}
  std::string name_for(const std::filesystem::path& path);
  Result<void> write(const std::string& id, const PreparedRecording& prepared, const PreparedPiece& piece);

  std::filesystem::path out_;
  std::map<std::string, int> names_{};
  std::string metadata_{};
  std::string refused_{};
  PreparedTotals totals_{};
};

}  // namespace tutti
