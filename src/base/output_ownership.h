#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tutti {

/// A file whatever its path: links of both kinds and other spellings lead to the same one.
using FileNumber = std::pair<dev_t, ino_t>;
/// None where there is no file.
std::optional<FileNumber> number_of(const std::filesystem::path& path);

/// The path without links, "." and "..", also of what does not exist yet, and behind a link that leads nowhere.
std::filesystem::path resolved_path(const std::filesystem::path& path);

/// Knows which files a command reads and which owner (outputs, a report, a model, ...) writes which file, so that none
/// of them is written onto an input or onto what another owner writes. Every file of a command is claimed before the
/// work, and written through here. Claims are one thread's; afterwards any thread may write.
class OutputOwnership {
 public:
  /// `hint` is what to do about a claim that cannot be met.
  explicit OutputOwnership(std::string hint = "Name another file or folder") : hint_(std::move(hint)) {}

  /// A file that is read, now or once it is there. A folder counts with everything in it; "-" is the
  /// file that standard input is redirected from, if any; "" is none.
  void add_input(const std::filesystem::path& path);

  bool has_missing_inputs() const { return !missing_.empty(); }

  /// Fault::usage where writing `output` would replace an input.
  Result<void> expect_no_input(const std::filesystem::path& output) const;
  /// The same of a folder that is replaced as a whole: it may neither be an input nor hold one.
  Result<void> expect_no_input_in(const std::filesystem::path& folder) const;
  /// The same, and from now on the file is `owner`'s: Fault::usage where it is another's already.
  Result<void> claim(const std::filesystem::path& output, const std::string& owner);

  /// The same of a file that the user names. What is there already is replaced only where it is empty or an earlier
  /// file of this kind, which has `mark` in its first 512 bytes: Fault::usage otherwise.
  Result<void> claim_marked(const std::filesystem::path& output, const std::string& owner, std::string mark);

  /// Writes it whole, unless it has become an input meanwhile, or what is there is not what was claimed. A link of its
  /// name is replaced itself, and what it leads to stays. True: a file was replaced.
  Result<bool> write(const std::filesystem::path& output, std::string_view content) const;

 private:
  std::filesystem::path real_path_of(const std::filesystem::path& output);
  bool is_input(const std::filesystem::path& output) const;
  bool is_in_input_folder(const std::filesystem::path& output) const;
  Result<void> expect_mark(const std::filesystem::path& output, const std::string& mark) const;
  tl::unexpected<Error> refused(const std::filesystem::path& output, const std::string& why) const;

  std::string hint_;
  std::set<FileNumber> numbers_{};                         // numbers of inputs that are there
  std::set<std::filesystem::path> missing_{};              // resolved, of inputs that are not
  std::set<std::string> missing_names_{};                  // their last parts: hardly any output has one of them
  std::vector<std::filesystem::path> folders_{};           // resolved
  std::map<std::filesystem::path, std::string> owners_{};  // by resolved path
  std::map<std::filesystem::path, std::string> marks_{};   // by path as it was claimed
  std::filesystem::path last_folder_{}, last_resolved_{};  // folder of the latest claim
};

// What the files that users name have in their first 512 bytes, by kind: how a later run knows them again.
inline constexpr const char* kManifestMark = "tutti-manifest";
inline constexpr const char* kBatchReportMark = "tutti-batch-report";
inline constexpr const char* kBenchPictureMark = "tutti-bench-picture";
inline constexpr const char* kHistoryPictureMark = "tutti-history-picture";
inline constexpr const char* kEvaluationMark = "tutti-evaluation";
inline constexpr const char* kSpeechMark = "tutti-speech";
/// The mark of speech whose times are in a file, which it names; empty: in none.
std::string speech_mark(const std::filesystem::path& times);

/// Fault::usage where a folder that is to be filled with new files holds some already: they are the user's.
Result<void> expect_no_files(const std::filesystem::path& folder);

/// Fault::usage where `input`, which is read, is the folder `out` that is to be filled.
Result<void> expect_other_out(const std::filesystem::path& out, const std::filesystem::path& input);

/// What a file held when it was written: its writer recognises it by that.
struct KnownContent {
  std::string sha256{};
  std::int64_t bytes = 0;
  bool operator==(const KnownContent&) const = default;
};

/// What has the name that a result is to get.
enum class Occupant {
  none,
  known,  // a file with one of the known contents
  other   // any other file, or one that cannot be read: it is the user's
};
Occupant occupant_of(const std::filesystem::path& path, const std::vector<KnownContent>& known);

/// The name beside a file that stays: talk.srt becomes talk.new.srt, talk.new2.srt, ... A name that would be too long
/// for a file loses the end of its stem.
std::filesystem::path name_beside(const std::filesystem::path& path, int number);

}  // namespace tutti
