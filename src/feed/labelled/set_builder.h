#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "feed/labelled/audio_geometry.h"
#include "feed/labelled/set_split.h"
#include "flow/watched_run.h"

namespace tutti {

/// What a set of labelled sound is built of, and how.
struct SetBuildOptions {
  std::filesystem::path data{};  ///< DIR/LABEL/... or DIR/PART/LABEL/..., or a list (read_labelled_manifest)
  std::filesystem::path root{};  ///< that the paths of a list begin at; empty: the list's folder
  std::filesystem::path out{};
  std::string preset{};         ///< "clip", "leak", "leak-overlap"; empty: by the names of the files
  std::optional<Hertz> rate{};  ///< these three: of clips, in place of what the files have
  std::optional<Seconds> seconds{};
  std::optional<int> n_mels{};
  std::string group{};          ///< a regular expression; its first part in brackets, or all it matches, is the group
  std::string delimiter = "~";  ///< separator of sensor~recording~timestamp~gain.wav
  SplitShares shares{};
  std::uint64_t seed = 1234;
  int threads = 1;
  int clips_per_file = 0;         ///< of a file longer than a clip, at most; 0: all that it holds, up to kMostClips, of
                                  ///< sets whose clips are shorter than their files by choice or by the limit of 10 s
  bool linear = false;            ///< bands of equal width in place of mels; not in field note 003's geometries
  int surrogates = 0;             ///< of each training file, after the split: IAAFT noise with its values and spectrum
  bool waveforms = false;         ///< also writes what the features were made of, into files of their own
  bool dry_run = false;           ///< reads everything, writes nothing
  bool verbose = false;           ///< logs every file that is left out, and why
  WatchedRun* watched = nullptr;  ///< runs the stage "make" of all files and measures it; none: unmeasured
};

/// Clips of a file, where as many are taken as it holds.
inline constexpr int kMostClips = 32;

/// What became of the files.
struct SetBuildReport {
  AudioGeometry geometry{};
  SplitReport split{};
  std::int64_t found = 0;
  std::int64_t used = 0;
  std::int64_t clips = 0;         ///< rows of the set that are no surrogates: one a file, or several of long ones
  std::int64_t resumed = 0;       ///< clips among them that an earlier, interrupted build had computed
  std::int64_t surrogates = 0;    ///< rows of the training part that are surrogates of its files
  std::int64_t bad = 0;           ///< in OUT/bad_samples.jsonl
  std::int64_t cut = 0;           ///< longer than the clip
  std::int64_t padded = 0;        ///< shorter
  std::int64_t moved = 0;         ///< of the longer ones: the clip begins later, for it would be digital silence
  std::int64_t out_of_water = 0;  ///< gain of 1 dB: left out
  std::int64_t bad_gain = 0;      ///< gain outside 0 to 200 dB: left out
  std::int64_t others = 0;        ///< files that are no audio by their ending, or have no label
  std::map<std::string, std::int64_t> other_endings{};  ///< as LabelledFiles has them
  bool has_groups = false;                              ///< false: each file is a group of its own
  std::vector<std::string> unread{};         ///< folders beside the parts that are none, with their counts of files
  std::vector<std::string> merged_labels{};  ///< a sentence for each label that had several spellings
  Bytes size{};                              ///< size of all features
  Bytes waveforms{};                         ///< size of all waveforms, where they are requested
};

/// Builds TRAINING_, VALIDATION_ and TESTING_DATASET.H5 and bad_samples.jsonl in `out`, and on request
/// TRAINING_WAVEFORMS.H5 and so on (set_waveforms.h). The same files and options
/// always give the same set, whatever the number of threads. Features are in `out`/features.part until the set is
/// there: a build that was killed goes on with what it had computed of files that have not changed. `progress`: files
/// done and files in all, from any thread; false ends it with Fault::cancelled.
///
/// Fault::usage for too few labels or groups, for a group or a content that is in two parts, for files in `out` that no
/// build wrote (expect_own_set_files), and for options that cannot be intended.
Result<SetBuildReport> build_labelled_set(const SetBuildOptions& options,
                                          const std::function<bool(std::int64_t, std::int64_t)>& progress);

/// What people should know of a set before they learn from it, each in a sentence: folders that are no part of it,
/// labels that were merged, and labels that a part of the set has no file of. Empty: nothing.
std::vector<std::string> warnings_of(const SetBuildReport& report);

/// Checks that a set may be written into `out`: of the files there that have a name of a set's file, only those are
/// replaced that an earlier build wrote. Those are data sets with checksums of their rows, lists of files that were
/// left out, and features of a build that was interrupted. Files of no bytes count as absent.
///
/// Fault::usage for one that another program or a person wrote. Thread-safe.
Result<void> expect_own_set_files(const std::filesystem::path& out);

}  // namespace tutti
