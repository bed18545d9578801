#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "base/output_ownership.h"
#include "base/owned.h"
#include "prepare/done_recordings.h"
#include "prepare/prepare_recording.h"

namespace tutti {

/// The stamp_of_sources() of a recording by its path.
using StampOf = std::function<std::string(const std::string& path)>;

/// A corpus that `tutti train` reads: audio/ID.flac at 16 kHz, metadata.csv, transcripts/ID.json with the times within
/// each sample, and refused.jsonl with everything that was left out and why. Until it is done, done/ keeps what each
/// recording added, so that whatever ends us costs no more than the recordings in work. One thread.
class PreparedFolder {
 public:
  /// Fault::usage where `out` holds a corpus already, or part of one that was made with other settings; Fault::refused
  /// where another process is at work there. Part of one that was made with these is gone on with; `stamp_now`: of a
  /// recording and its text as they are now, by which it is seen that one has changed since; empty: not known.
  /// `files` knows what the corpus is made of, onto which nothing is written.
  static Result<PreparedFolder> create(const std::filesystem::path& out, const std::string& settings,
                                       const StampOf& stamp_now, OutputOwnership files = OutputOwnership());

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
  PreparedFolder(std::filesystem::path out, OwnedFd lock, OutputOwnership files)
      : out_(std::move(out)), lock_(std::move(lock)), files_(std::move(files)) {}
  Result<void> write_file(const std::filesystem::path& path, const std::string& content) const;
  Result<void> go_on(const std::string& settings, const StampOf& stamp_now);
  void take(const DoneRecording& done);
  std::string name_for(const std::filesystem::path& path);
  Result<void> write(const std::string& id, const PreparedRecording& prepared, const PreparedPiece& piece,
                     DoneRecording& done) const;

  std::filesystem::path out_;
  OwnedFd lock_;  // empty where the file system keeps none
  OutputOwnership files_;
  int last_ = 0;                         // number in done/
  std::map<std::string, int> before_{};  // by path, how many an earlier run prepared that has() was not called for yet
  std::set<std::string> names_{};
  std::string metadata_{};
  std::string refused_{};
  PreparedTotals totals_{};
};

}  // namespace tutti
