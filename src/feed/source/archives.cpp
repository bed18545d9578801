#include "feed/source/archives.h"

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

/// zlib's state, which ends with it.
class Inflater {
 public:
  Inflater() : is_ready_(::inflateInit2(&stream_, kGzip) == Z_OK) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  bool is_ready() const { return is_ready_; }
  z_stream& stream() { return stream_; }

 private:
  static constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream_{};
  bool is_ready_;
};

/// As much of `bytes` as zlib takes at once.
uInt first_of(std::string_view bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
}

constexpr std::int64_t kBlock = 512;
using Block = std::array<char, kBlock>;

std::string_view text_in(const Block& block, std::size_t at, std::size_t size) {
  const std::string_view whole(block.data() + at, size);
  return whole.substr(0, whole.find('\0'));
}

/// Octal digits; or where they are too few, bytes behind a set bit.
std::optional<std::int64_t> size_in(const Block& block, std::size_t at, std::size_t size) {
  if ((static_cast<unsigned char>(block[at]) & 0x80U) != 0) {
    std::uint64_t value = 0;
    for (std::size_t i = at + size - 8; i < at + size; ++i) value = value << 8 | static_cast<unsigned char>(block[i]);
    return value <= INT64_MAX ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
  }
  const std::string_view digits = trimmed(text_in(block, at, size));
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 8);
  return failed == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

bool has_valid_checksum(const Block& block) {
  constexpr std::size_t kAt = 148, kSize = 8;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i)
    sum += i >= kAt && i < kAt + kSize ? ' ' : static_cast<unsigned char>(block[i]);
  return size_in(block, kAt, kSize) == sum;
}

/// What the headers before a member state of it.
struct Extended {
  std::string name{};
  std::optional<std::int64_t> size{};
};

/// Records "LENGTH KEY=VALUE\n" of pax.
void read_records(std::string_view records, Extended& extended) {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, failed] = std::from_chars(records.data(), records.data() + records.size(), length);
    if (failed != std::errc() || length == 0 || length > records.size()) return;
    std::string_view record = records.substr(0, length);
    records.remove_prefix(length);
    record.remove_prefix(std::min(record.size(), record.find(' ') + 1));
    if (record.ends_with('\n')) record.remove_suffix(1);
    const auto equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = record.substr(0, equals), value = record.substr(equals + 1);
    if (key == "path") extended.name = value;
    std::int64_t size = 0;
    if (key == "size" && std::from_chars(value.data(), value.data() + value.size(), size).ec == std::errc())
      extended.size = size;
  }
}

std::string name_of(const Block& block) {
  const std::string_view name = text_in(block, 0, 100), prefix = text_in(block, 345, 155);
  const bool is_ustar = std::memcmp(block.data() + 257, "ustar", 5) == 0 && block[262] == '\0';
  return is_ustar && !prefix.empty() ? std::string(prefix) + "/" + std::string(name) : std::string(name);
}

/// Reads a tar from header to header.
class TarReader {
 public:
  TarReader(int fd, const std::string& name, std::int64_t size) : fd_(fd), name_(name), size_(size) {}

  /// The next member; none at the end.
  Result<std::optional<TarMember>> next() {
    Extended extended;
    for (;;) {
      Block block{};
      if (at_ + kBlock > size_) return at_ == size_ && at_ > 0 ? end() : cut_off();
      TRY(read_at(fd_, std::as_writable_bytes(std::span(block)), at_, name_));
      if (std::ranges::all_of(block, [](char c) { return c == '\0'; })) return end();
      const auto size = size_in(block, 124, 12);
      if (!size || !has_valid_checksum(block)) return no_tar();
      const char type = block[156];
      const bool is_file = type == '0' || type == '\0' || type == '7';
      const std::int64_t wanted = is_file ? extended.size.value_or(*size) : *size;
      if (wanted < 0) return no_tar();
      if (wanted > size_ - at_ - kBlock) return cut_off();
      const FileRange bytes{at_ + kBlock, at_ + kBlock + wanted};
      at_ = bytes.end + (kBlock - bytes.size() % kBlock) % kBlock;
      if (is_file) return TarMember{extended.name.empty() ? name_of(block) : extended.name, bytes};
      if (type != 'L' && type != 'x') continue;
      auto text = TRY(content(bytes));
      if (type == 'L')
        extended.name.assign(text.begin(), std::ranges::find(text, '\0'));  // up to the first NUL
      else
        read_records(text, extended);
    }
  }

 private:
  static Result<std::optional<TarMember>> end() { return std::nullopt; }
  tl::unexpected<Error> cut_off() const {
    return fail(Fault::corrupt, name_ + ": is cut off after " + std::to_string(size_) + " bytes");
  }
  tl::unexpected<Error> no_tar() const {
    return fail(Fault::corrupt,
                name_ + ": expected a tar, found something else " + std::to_string(at_) + " bytes from its start",
                "A compressed one has to be decompressed first");
  }
  Result<std::string> content(const FileRange& bytes) const {
    constexpr std::int64_t kMost = 1 << 20;  // of a name
    std::string text(static_cast<std::size_t>(std::min(bytes.size(), kMost)), '\0');
    TRY(read_at(fd_, std::as_writable_bytes(std::span(text)), bytes.begin, name_));
    return text;
  }

  int fd_;
  const std::string& name_;
  std::int64_t size_;
  std::int64_t at_ = 0;
};

}  // namespace

Result<std::string> gunzipped(std::string_view bytes) {
  Inflater inflater;
  if (!inflater.is_ready()) return fail(Fault::exhausted, "no memory to decompress with");
  z_stream& stream = inflater.stream();
  std::string text;
  std::string block(1 << 18, '\0');
  bool is_whole = false;
  while (!bytes.empty()) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // it is only read
    const uInt given = stream.avail_in = first_of(bytes);
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    const int state = ::inflate(&stream, Z_NO_FLUSH);
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      return fail(Fault::corrupt, "its gzip is damaged: " + std::string(stream.msg ? stream.msg : "unknown"));
    bytes.remove_prefix(given - stream.avail_in);
    text.append(block, 0, block.size() - stream.avail_out);
    is_whole = state == Z_STREAM_END;
    if (is_whole && ::inflateReset(&stream) != Z_OK) return fail(Fault::internal, "zlib could not begin again");
    if (state == Z_BUF_ERROR && stream.avail_out > 0) break;
  }
  if (!is_whole) return fail(Fault::corrupt, "its gzip is cut off");
  return text;
}

Result<std::vector<TarMember>> tar_members(int fd, const std::string& name) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) return fail_errno(name, "cannot be read");
  TarReader reader(fd, name, facts.st_size);
  std::vector<TarMember> members;
  for (;;) {
    auto member = TRY(reader.next());
    if (!member) return members;
    members.push_back(std::move(*member));
  }
}

}  // namespace tutti
