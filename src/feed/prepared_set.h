#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/try.h"
#include "feed/feature_cache.h"

namespace tutti {

// What all builders of training sets do alike, whatever is in the set: features that are packed, voices and their
// waveforms, labelled audio, corpora of long recordings.

/// How a file of a set is written.
struct SetFileOptions {
  std::filesystem::path whole{};  ///< its name in the set, which errors name, too
  std::filesystem::path half{};   ///< its name until it is whole
  std::int64_t head = 0;          ///< bytes in front of the records, which are written last
  std::int64_t alignment = 1;     ///< records begin at multiples of it
  bool is_resumed = false;        ///< a half file is kept for the next build, which reads it; else it is made again
  std::optional<Error> taken{};   ///< what is wrong where another process writes it; none: the caller prevents that
};

/// A file of a set while it is written: a head, records that are appended, and their index. It has a name of its own
/// until all of it is on the disk, so a build that is killed at any moment leaves the file that was there before, and
/// its half file.
///
/// `reserve` and `write` are thread-safe.
class SetFileWriter {
 public:
  /// Opens the half file, or makes it. Fails with `taken` where another process has its lock, Fault::unsupported where
  /// the file system keeps no locks.
  static Result<std::unique_ptr<SetFileWriter>> open(SetFileOptions options);
  SetFileWriter(const SetFileWriter&) = delete;
  SetFileWriter& operator=(const SetFileWriter&) = delete;
  /// Removes a half file that is not kept.
  ~SetFileWriter();

  /// Where a record of so many bytes is to be: no other one gets that.
  std::int64_t reserve(std::int64_t size);
  Result<void> write(std::int64_t at, std::span<const std::byte> bytes);
  /// Both; returns where the record is.
  Result<std::int64_t> append(std::span<const std::byte> bytes);
  /// Drops what is behind `at`, where the next record begins. Before all appending.
  Result<void> cut(std::int64_t at);

  /// Writes the index behind the records, then the head, in which it notes where the index is and the checksums of
  /// both, and waits until all is on the disk. After all appending.
  template <class Head>
  Result<void> finish(Head& head, std::span<const std::byte> index) {
    head.index_at = TRY(append(index));
    head.index_check = checksum(index);
    head.head_check = check_of_head(head);
    return write_head(std::as_bytes(std::span(&head, 1)));
  }
  /// Gives the file its name. After finish().
  Result<void> publish();
  /// Removes the half file at once.
  Result<void> remove();

  int file() const { return file_.get(); }
  /// Where the next record begins.
  std::int64_t end() const { return end_; }
  /// Whether something could not be written.
  bool has_failed() const { return has_failed_; }

 private:
  SetFileWriter(SetFileOptions options, OwnedFd file) : options_(std::move(options)), file_(std::move(file)) {}
  Result<void> write_head(std::span<const std::byte> head);

  SetFileOptions options_;
  OwnedFd file_;
  std::atomic<std::int64_t> end_ = 0;
  std::atomic<bool> has_failed_ = false;
  bool is_published_ = false;
};

/// A file of a set that SetFileWriter made whole, mapped.
template <class Head>
struct SetFile {
  MappedFile file;
  Head head{};
  std::span<const std::byte> index{};  ///< what finish() wrote behind the records
};

/// Maps such a file, and checks its head and its index; records are not read. Fault::missing where there is none,
/// Fault::corrupt for a damaged one or a file of another kind. `name`: what errors expect, as in "the set of a voice";
/// `hint`: how to make it.
template <class Head>
Result<SetFile<Head>> open_set_file(const std::filesystem::path& path, const std::string& name,
                                    const std::string& hint) {
  const auto unusable = [&](Fault fault, const std::string& what) {
    return fail(fault, path.string() + ": " + what, hint);
  };
  const std::string but_found = "expected " + name + ", found ";
  auto file = MappedFile::open(path);
  if (!file && file.error().fault == Fault::missing) return unusable(Fault::missing, but_found + "no file");
  if (!file) return tl::unexpected<Error>(std::move(file).error());
  const auto size = std::ssize(file->bytes());
  const auto first = file->bytes(0, sizeof(Head));
  if (first.empty()) return unusable(Fault::corrupt, but_found + std::to_string(size) + " bytes");
  SetFile<Head> set{.file = *std::move(file)};
  std::memcpy(&set.head, first.data(), sizeof(Head));
  if (set.head.magic != Head{}.magic) return unusable(Fault::corrupt, but_found + "a file of another kind");
  if (set.head.head_check != check_of_head(set.head)) return unusable(Fault::corrupt, "its head is damaged");
  set.index = set.file.bytes(set.head.index_at, size - set.head.index_at);  // empty where the file was cut
  if (checksum(set.index) != set.head.index_check) return unusable(Fault::corrupt, "its index is damaged");
  return set;
}

/// Gives a file, which is whole and synced, its name in the set, and syncs the folder.
Result<void> publish_file(const std::filesystem::path& half, const std::filesystem::path& whole);

/// The name of the list of samples that a set does not have, in its folder.
inline constexpr const char* kBadSampleList = "bad_samples.jsonl";

/// What is left out of a set, and why: a line of JSON each, {"id":...,"reason":...}. One thread.
class BadSampleList {
 public:
  void add(const std::string& id, const std::string& reason);
  std::int64_t count() const { return count_; }
  /// The first reason; empty where nothing is left out.
  const std::string& first() const { return first_; }
  /// Writes the list into the folder of the set, whole.
  Result<void> write(const std::filesystem::path& folder) const;

  /// Whether every line of that file is such a one.
  static bool is_one(const std::filesystem::path& path);

 private:
  std::string lines_{};
  std::string first_{};
  std::int64_t count_ = 0;
};

/// Whether what failed so may well succeed another time, for the machine was short of something, or another process in
/// the way: a set that is kept must not hold it as bad.
bool may_pass(Fault fault);

}  // namespace tutti
