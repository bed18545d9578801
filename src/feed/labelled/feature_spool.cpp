#include "feed/labelled/feature_spool.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/field_names.h"
#include "base/owned.h"
#include "base/try.h"

namespace tutti {
namespace {

/// In front of all records. Changes with their layout.
struct SpoolHead {
  std::array<char, 16> magic{'t', 'u', 't', 't', 'i', '-', 'f', 'e', 'a', 't', 'u', 'r', 'e', 's', '-', '5'};
  CacheKey geometry{};
};

/// In front of a record's waveform, which precedes the features: so both are aligned.
struct RecordHead {
  CacheKey identity{};
  CacheKey content{};
  std::uint64_t row_checksum = 0;
  std::uint64_t waveform_checksum = 0;
  std::uint64_t flags = 0;
  std::int64_t start = 0;
  std::int64_t count = 1;
  std::uint64_t checksum = 0;  // checksum of this head, with 0 here, and of what follows
};

constexpr std::uint64_t kIsCut = 1, kIsPadded = 2, kIsMoved = 4;

std::uint64_t checksum_of(RecordHead head, std::span<const std::byte> content) {
  head.checksum = 0;
  const auto of_head = std::bit_cast<std::array<double, sizeof(RecordHead) / sizeof(double)>>(head);
  return cache_key(content, of_head)[0];
}

SpoolHead head_of(const AudioGeometry& geometry, bool has_waveforms) {
  const auto text = show_geometry(geometry) + " " + std::to_string(geometry.longs) + " " +
                    std::to_string(geometry.shorts) + " " + std::to_string(geometry.frames()) +
                    (has_waveforms ? " waveforms" : "");
  return {.geometry = cache_key(std::as_bytes(std::span(text)), {})};
}

}  // namespace

std::int64_t FeatureSpool::record_bytes() const {
  constexpr std::int64_t kAligned = alignof(RecordHead);
  const auto bytes = static_cast<std::int64_t>(sizeof(RecordHead)) + waveform_bytes() +
                     values_ * static_cast<std::int64_t>(sizeof(std::uint16_t));
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

bool FeatureSpool::is_spool(const std::filesystem::path& path) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  SpoolHead found;
  if (!file || !read_whole(file.get(), std::as_writable_bytes(std::span(&found, 1)), 0)) return false;
  constexpr std::string_view kAnyLayout = "tutti-features-";
  return std::string_view(found.magic.data(), found.magic.size()).starts_with(kAnyLayout);
}

Result<CacheKey> FeatureSpool::identity_of(const std::string& name, const std::filesystem::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return fail_errno(path.string(), "cannot be read");
  const std::array<std::int64_t, 6> numbers{static_cast<std::int64_t>(facts.st_ino),
                                            facts.st_size,
                                            facts.st_mtim.tv_sec,
                                            facts.st_mtim.tv_nsec,
                                            facts.st_ctim.tv_sec,
                                            facts.st_ctim.tv_nsec};
  return cache_key(std::as_bytes(std::span(name)), std::bit_cast<std::array<double, 6>>(numbers));
}

Result<std::unique_ptr<FeatureSpool>> FeatureSpool::open(const std::filesystem::path& path,
                                                         const AudioGeometry& geometry, bool has_waveforms) {
  auto file = TRY(SetFileWriter::open({.whole = path,
                                       .half = path,
                                       .head = sizeof(SpoolHead),
                                       .is_resumed = true,
                                       .taken = Error{Fault::usage, path.string() + ": another process builds this set",
                                                      "Wait for it, or name another folder with " + field("out")}}));
  const auto waveform_values = has_waveforms ? geometry.waveform_values() : 0;
  std::unique_ptr<FeatureSpool> spool(new FeatureSpool(path, std::move(file), geometry.values(), waveform_values));
  const auto expected = head_of(geometry, has_waveforms);
  SpoolHead found;
  const bool is_ours = read_whole(spool->file_->file(), std::as_writable_bytes(std::span(&found, 1)), 0) &&
                       found.magic == expected.magic && found.geometry == expected.geometry;
  if (is_ours) {
    TRY(spool->read_records());
    return spool;
  }
  TRY(spool->file_->cut(0));
  TRY(spool->file_->append(std::as_bytes(std::span(&expected, 1))));
  return spool;
}

/// Knows every record that is whole. New ones follow behind the last, so a hole costs its space alone.
Result<void> FeatureSpool::read_records() {
  const auto map = TRY(MappedFile::open(path_));
  const auto bytes = map.bytes().subspan(sizeof(SpoolHead));
  const auto size = static_cast<std::size_t>(record_bytes());
  const auto whole = bytes.size() / size;
  for (std::size_t record = 0; record < whole; ++record) {
    const auto one = bytes.subspan(record * size, size);
    RecordHead head;
    std::memcpy(&head, one.data(), sizeof head);
    if (checksum_of(head, one.subspan(sizeof head)) != head.checksum) continue;
    known_[head.identity] = {.content = head.content,
                             .checksum = head.row_checksum,
                             .waveform_checksum = head.waveform_checksum,
                             .record = static_cast<std::int64_t>(record),
                             .start = head.start,
                             .count = head.count,
                             .is_cut = (head.flags & kIsCut) != 0,
                             .is_padded = (head.flags & kIsPadded) != 0,
                             .is_moved = (head.flags & kIsMoved) != 0};
  }
  return file_->cut(static_cast<std::int64_t>(sizeof(SpoolHead) + whole * size));
}

std::optional<SpooledClip> FeatureSpool::find(const CacheKey& identity) const {
  const auto found = known_.find(identity);
  return found == known_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> FeatureSpool::append(const CacheKey& identity, SpooledClip& clip, std::span<const std::uint16_t> mel,
                                  std::span<const float> waveform) {
  RecordHead head{
      .identity = identity,
      .content = clip.content,
      .row_checksum = clip.checksum,
      .waveform_checksum = clip.waveform_checksum,
      .flags = (clip.is_cut ? kIsCut : 0) | (clip.is_padded ? kIsPadded : 0) | (clip.is_moved ? kIsMoved : 0),
      .start = clip.start,
      .count = clip.count};
  std::vector<std::byte> record(static_cast<std::size_t>(record_bytes()));
  const std::span content = std::span(record).subspan(sizeof head);
  std::ranges::copy(std::as_bytes(waveform.first(static_cast<std::size_t>(waveform_values_))), content.begin());
  std::ranges::copy(std::as_bytes(mel), content.begin() + waveform_bytes());
  head.checksum = checksum_of(head, content);
  std::memcpy(record.data(), &head, sizeof head);
  const auto at = TRY(file_->append(record));
  clip.record = (at - static_cast<std::int64_t>(sizeof(SpoolHead))) / record_bytes();
  return {};
}

Result<void> FeatureSpool::finish() {
  map_ = TRY(MappedFile::open(path_));
  return {};
}

/// The record's bytes behind its head.
std::span<const std::byte> FeatureSpool::content_of(const SpooledClip& clip) const {
  const auto at = static_cast<std::int64_t>(sizeof(SpoolHead)) + clip.record * record_bytes();
  return map_->bytes()
      .subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(record_bytes()))
      .subspan(sizeof(RecordHead));
}

std::span<const std::uint16_t> FeatureSpool::mel(const SpooledClip& clip) const {
  const auto bytes = content_of(clip).subspan(static_cast<std::size_t>(waveform_bytes()));
  return {reinterpret_cast<const std::uint16_t*>(bytes.data()), static_cast<std::size_t>(values_)};
}

std::span<const float> FeatureSpool::waveform(const SpooledClip& clip) const {
  return {reinterpret_cast<const float*>(content_of(clip).data()), static_cast<std::size_t>(waveform_values_)};
}

Result<void> FeatureSpool::remove() {
  map_.reset();
  return file_->remove();
}

}  // namespace tutti
