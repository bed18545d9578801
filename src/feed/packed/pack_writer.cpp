#include "feed/packed/pack_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/files.h"
#include "base/numbers.h"

namespace tutti {

Result<std::unique_ptr<PackWriter>> PackWriter::create(const std::filesystem::path& path) {
  std::filesystem::path half = path;
  half.replace_extension(kHalfPackEnding);
  OwnedFd file(::open(half.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return fail_errno(half.string(), "could not be created");
  return std::unique_ptr<PackWriter>(new PackWriter(path, std::move(half), std::move(file)));
}

PackWriter::~PackWriter() {
  if (!half_.empty()) ::unlink(half_.c_str());
}

Result<void> PackWriter::put(std::int64_t at, std::span<const std::byte> bytes) const {
  return write_at(file_.get(), bytes, at, path_.string());
}

Result<void> PackWriter::append(PackEntry& entry, std::span<const std::uint16_t> mel, const std::string& facts) {
  std::string record(reinterpret_cast<const char*>(mel.data()), mel.size_bytes());
  record += facts;
  record.resize(static_cast<std::size_t>(rounded_up(std::ssize(record), kPackAlignment)));
  entry.facts = static_cast<std::int32_t>(facts.size());
  entry.check = checksum(std::as_bytes(std::span(record)));
  entry.at = end_.fetch_add(std::ssize(record));
  return put(entry.at, std::as_bytes(std::span(record)));
}

Result<void> PackWriter::publish(PackHead head, const std::vector<std::int64_t>& firsts,
                                 const std::vector<PackEntry>& entries) {
  const auto index_of_lines = std::as_bytes(std::span(firsts)), index_of_entries = std::as_bytes(std::span(entries));
  std::vector<std::byte> index(index_of_lines.begin(), index_of_lines.end());
  index.insert(index.end(), index_of_entries.begin(), index_of_entries.end());
  head.lines = std::ssize(firsts) - 1;
  head.entries = std::ssize(entries);
  head.index_at = end_;
  head.index_check = checksum(index);
  head.head_check = check_of_head(head);
  auto written = put(head.index_at, index);
  if (written) written = put(0, std::as_bytes(std::span(&head, 1)));
  if (!written) return written;
  if (::fsync(file_.get()) != 0) return fail_errno(path_.string(), "could not be synced");
  if (::rename(half_.c_str(), path_.c_str()) != 0) return fail_errno(path_.string(), "could not be put in place");
  half_.clear();
  return sync_folder(folder_of(path_));
}

void remove_half_packs(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().native().ends_with(kHalfPackEnding)) std::filesystem::remove(entry.path(), ignored);
}

}  // namespace tutti
