#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "model/formats/formats.h"

namespace tutti {
namespace {

constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::uint32_t kEnd64LocatorSignature = 0x07064b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kEntrySignature = 0x02014b50;
constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64LocatorSize = 20;
constexpr std::size_t kEntrySize = 46;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kLongestComment = 0xffff;

using Bytes = std::span<const std::byte>;

/// A little-endian number at `at`, or nothing past the end.
template <class T>
std::optional<T> number(Bytes bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::optional<Bytes> part(Bytes bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
  return bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t entries = 0;
};

std::optional<std::uint64_t> find_end(Bytes file) {
  if (file.size() < kEndSize) return std::nullopt;
  const auto last = file.size() - kEndSize;
  const auto first = last > kLongestComment ? last - kLongestComment : 0;
  for (auto at = last + 1; at-- > first;) {
    if (number<std::uint32_t>(file, at) == kEndSignature) return at;
  }
  return std::nullopt;
}

std::optional<Directory> find_directory(Bytes file) {
  const auto end = find_end(file);
  if (!end) return std::nullopt;
  if (*end >= kEnd64LocatorSize && number<std::uint32_t>(file, *end - kEnd64LocatorSize) == kEnd64LocatorSignature) {
    const auto at = number<std::uint64_t>(file, *end - kEnd64LocatorSize + 8);
    if (!at || number<std::uint32_t>(file, *at) != kEnd64Signature) return std::nullopt;
    const auto entries = number<std::uint64_t>(file, *at + 32);
    const auto offset = number<std::uint64_t>(file, *at + 48);
    if (!entries || !offset) return std::nullopt;
    return Directory{*offset, *entries};
  }
  return Directory{*number<std::uint32_t>(file, *end + 16), *number<std::uint16_t>(file, *end + 10)};
}

/// The fields of one entry of the central directory.
struct Entry {
  std::string_view name{};
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint64_t stored = 0;    // bytes in the archive
  std::uint64_t original = 0;  // bytes before compression
  std::uint64_t local = 0;     // the offset of its local header
  std::uint64_t length = 0;    // size of this directory entry itself
};

/// Zip64: fields that read as all ones stand, as 64 bits and in this order, in the extra field of id 1.
bool widen(Entry& entry, Bytes extra) {
  constexpr std::uint64_t saturated = 0xffffffff;
  std::uint64_t at = 0;
  while (true) {
    const auto id = number<std::uint16_t>(extra, at);
    const auto size = number<std::uint16_t>(extra, at + 2);
    const bool needed = entry.original == saturated || entry.stored == saturated || entry.local == saturated;
    if (!id || !size) return !needed;
    const auto body = part(extra, at + 4, *size);
    if (!body) return false;
    at += 4 + std::uint64_t{*size};
    if (*id != 1) continue;
    std::uint64_t from = 0;
    for (auto* field : {&entry.original, &entry.stored, &entry.local}) {
      if (*field != saturated) continue;
      const auto value = number<std::uint64_t>(*body, from);
      if (!value) return false;
      *field = *value;
      from += sizeof *value;
    }
    return true;
  }
}

std::optional<Entry> read_entry(Bytes file, std::uint64_t at) {
  const auto fixed = part(file, at, kEntrySize);
  if (!fixed || number<std::uint32_t>(*fixed, 0) != kEntrySignature) return std::nullopt;
  Entry entry;
  entry.flags = *number<std::uint16_t>(*fixed, 8);
  entry.method = *number<std::uint16_t>(*fixed, 10);
  entry.stored = *number<std::uint32_t>(*fixed, 20);
  entry.original = *number<std::uint32_t>(*fixed, 24);
  entry.local = *number<std::uint32_t>(*fixed, 42);
  const auto name_size = *number<std::uint16_t>(*fixed, 28);
  const auto extra_size = *number<std::uint16_t>(*fixed, 30);
  const auto comment_size = *number<std::uint16_t>(*fixed, 32);
  const auto name = part(file, at + kEntrySize, name_size);
  const auto extra = part(file, at + kEntrySize + name_size, extra_size);
  if (!name || !extra || !widen(entry, *extra)) return std::nullopt;
  entry.name = {reinterpret_cast<const char*>(name->data()), name->size()};
  entry.length = kEntrySize + name_size + extra_size + comment_size;
  return entry;
}

/// The local header repeats name and extra field with lengths of its own; the data is behind it.
std::optional<Bytes> data_of(Bytes file, const Entry& entry) {
  const auto local = part(file, entry.local, kLocalSize);
  if (!local || number<std::uint32_t>(*local, 0) != kLocalSignature) return std::nullopt;
  const auto skip = kLocalSize + *number<std::uint16_t>(*local, 26) + *number<std::uint16_t>(*local, 28);
  return part(file, entry.local + skip, entry.stored);
}

}  // namespace

Result<std::vector<ZipMember>> list_stored_zip(Bytes file) {
  const auto directory = find_directory(file);
  if (!directory) return fail(Fault::corrupt, "no zip directory at its end", "The file is truncated or no zip archive");
  std::vector<ZipMember> members;
  std::uint64_t at = directory->offset;
  for (std::uint64_t i = 0; i < directory->entries; ++i) {
    const auto entry = read_entry(file, at);
    if (!entry) return fail(Fault::corrupt, "zip directory entry " + std::to_string(i) + " is damaged");
    const auto thing = "member '" + std::string(entry->name) + "'";
    if (entry->method != 0 || entry->stored != entry->original || (entry->flags & 1) != 0) {
      return fail(Fault::unsupported, thing + " is compressed or encrypted; expected it stored");
    }
    const auto data = data_of(file, *entry);
    if (!data) return fail(Fault::corrupt, thing + ": its data is outside the file");
    members.push_back({entry->name, *data});
    at += entry->length;
  }
  return members;
}

}  // namespace tutti
