#include "feed/prepared_set.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/strings.h"

namespace tutti {
namespace {

Result<void> renamed(const std::filesystem::path& half, const std::filesystem::path& whole) {
  if (::rename(half.c_str(), whole.c_str()) != 0) return fail_errno(whole.string(), "could not be put in place");
  return {};
}

}  // namespace

Result<std::unique_ptr<SetFileWriter>> SetFileWriter::open(SetFileOptions options) {
  const auto& half = options.half;
  OwnedFd file(::open(half.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return fail_errno(half.string(), "could not be created");
  if (options.taken) {
    const auto locked =
        TRY(try_lock_file(file.get(), half.string(), "Name a folder on a local disk with " + field("out")));
    if (!locked) return tl::unexpected<Error>(*std::move(options.taken));
  }
  if (!options.is_resumed && ::ftruncate(file.get(), 0) != 0) return fail_errno(half.string(), "could not be cut");
  std::unique_ptr<SetFileWriter> writer(new SetFileWriter(std::move(options), std::move(file)));
  writer->end_ = rounded_up(writer->options_.head, writer->options_.alignment);
  return writer;
}

SetFileWriter::~SetFileWriter() {
  if (!options_.is_resumed && !is_published_) (void)remove();
}

std::int64_t SetFileWriter::reserve(std::int64_t size) {
  return end_.fetch_add(rounded_up(size, options_.alignment));
}

Result<void> SetFileWriter::write(std::int64_t at, std::span<const std::byte> bytes) {
  auto written = write_at(file_.get(), bytes, at, options_.whole.string());
  if (!written) has_failed_ = true;
  return written;
}

Result<std::int64_t> SetFileWriter::append(std::span<const std::byte> bytes) {
  const auto at = reserve(std::ssize(bytes));
  TRY(write(at, bytes));
  return at;
}

Result<void> SetFileWriter::cut(std::int64_t at) {
  if (::ftruncate(file_.get(), at) != 0) return fail_errno(options_.half.string(), "could not be cut");
  end_ = at;
  return {};
}

Result<void> SetFileWriter::write_head(std::span<const std::byte> head) {
  TRY(write(0, head));
  if (::fsync(file_.get()) == 0) return {};
  has_failed_ = true;
  return fail_errno(options_.whole.string(), "could not be synced");
}

Result<void> SetFileWriter::publish() {
  TRY(renamed(options_.half, options_.whole));
  is_published_ = true;  // from now on another process may have a half file
  return sync_folder(folder_of(options_.whole));
}

Result<void> SetFileWriter::remove() {
  if (::unlink(options_.half.c_str()) != 0) return fail_errno(options_.half.string(), "cannot be removed");
  return {};
}

Result<void> publish_file(const std::filesystem::path& half, const std::filesystem::path& whole) {
  TRY(renamed(half, whole));
  return sync_folder(folder_of(whole));
}

void BadSampleList::add(const std::string& id, const std::string& reason) {
  if (count_++ == 0) first_ = reason;
  lines_ += json_line(nlohmann::ordered_json{{"id", id}, {"reason", reason}}) + "\n";
}

Result<void> BadSampleList::write(const std::filesystem::path& folder) const {
  return write_file_atomically(folder / kBadSampleList, lines_);
}

bool BadSampleList::is_one(const std::filesystem::path& path) {
  const auto text = read_regular_file(path);
  if (!text) return false;
  return std::ranges::all_of(split(*text, '\n'), [](const auto& line) {
    if (trimmed(line).empty()) return true;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    return json.is_object() && json.contains("id") && json.contains("reason");
  });
}

bool may_pass(Fault fault) {
  return fault == Fault::exhausted || fault == Fault::full || fault == Fault::unavailable;
}

}  // namespace tutti
