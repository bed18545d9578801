#include "feed/packed/pack_writer.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

std::filesystem::path half_path(std::filesystem::path path) {
  return path.replace_extension(kHalfPackEnding);
}

}  // namespace

Result<std::unique_ptr<PackWriter>> PackWriter::create(const std::filesystem::path& path) {
  auto file = TRY(SetFileWriter::open({.whole = path,
                                       .half = half_path(path),
                                       .head = sizeof(PackHead),
                                       .alignment = kPackAlignment,
                                       .is_resumed = true}));
  return std::unique_ptr<PackWriter>(new PackWriter(std::move(file)));
}

PackWriter::~PackWriter() {
  if (file_->has_failed()) (void)file_->remove();
}

/// The record that begins at `at`. False where none is whole there.
bool PackWriter::read_record(std::int64_t at, RecordHead& head, std::vector<std::byte>& body,
                             std::int64_t n_mels) const {
  if (!read_whole(file_->file(), std::as_writable_bytes(std::span(&head, 1)), at)) return false;
  const std::int64_t behind = at + static_cast<std::int64_t>(sizeof head);
  if (head.check != check_of_head(head) || head.number < 0 || head.entry.at != behind) return false;
  body.resize(static_cast<std::size_t>(record_bytes(head.entry, n_mels)));
  return read_whole(file_->file(), body, behind) && checksum(body) == head.entry.check;
}

Result<std::int64_t> PackWriter::resume(std::int64_t n_mels, std::vector<PackEntry>& entries) {
  std::int64_t found = 0, end = file_->end();
  RecordHead head;
  std::vector<std::byte> body;
  while (read_record(end, head, body, n_mels) && std::cmp_less(head.number, entries.size())) {
    entries[static_cast<std::size_t>(head.number)] = head.entry;
    end = head.entry.at + std::ssize(body);
    ++found;
  }
  TRY(file_->cut(end));  // nothing may follow the index in the end
  return found;
}

Result<void> PackWriter::append(std::int64_t number, PackEntry& entry, std::span<const std::uint16_t> mel,
                                const std::string& facts) {
  RecordHead head{.number = number};
  std::string record(sizeof head, '\0');
  record.append(reinterpret_cast<const char*>(mel.data()), mel.size_bytes());
  record += facts;
  record.resize(static_cast<std::size_t>(rounded_up(std::ssize(record), kPackAlignment)));
  const auto bytes = std::as_bytes(std::span(record));
  entry.facts = static_cast<std::int32_t>(facts.size());
  entry.check = checksum(bytes.subspan(sizeof head));
  const std::int64_t at = file_->reserve(std::ssize(record));
  entry.at = at + static_cast<std::int64_t>(sizeof head);
  head.entry = entry;
  head.check = check_of_head(head);
  std::memcpy(record.data(), &head, sizeof head);
  return file_->write(at, bytes);
}

Result<void> PackWriter::publish(PackHead head, const std::vector<std::int64_t>& firsts,
                                 const std::vector<PackEntry>& entries) {
  const auto index_of_lines = std::as_bytes(std::span(firsts)), index_of_entries = std::as_bytes(std::span(entries));
  std::vector<std::byte> index(index_of_lines.begin(), index_of_lines.end());
  index.insert(index.end(), index_of_entries.begin(), index_of_entries.end());
  head.lines = std::ssize(firsts) - 1;
  head.entries = std::ssize(entries);
  TRY(file_->finish(head, index));
  return file_->publish();
}

Bytes half_packed(const std::filesystem::path& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(half_path(path), failed);
  return {failed ? 0 : static_cast<std::int64_t>(size)};
}

void remove_other_half_packs(const std::filesystem::path& path) {
  std::error_code ignored;
  const auto kept = half_path(path);
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path(), ignored))
    if (entry.path() != kept && entry.path().native().ends_with(kHalfPackEnding))
      std::filesystem::remove(entry.path(), ignored);
}

}  // namespace tutti
