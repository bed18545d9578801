#include "audio/file_ending.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "audio/peek.h"

namespace tutti {
namespace {

/// Whether the file ends with a whole page that is marked as its stream's last.
bool ogg_is_whole(ByteSource& bytes) {
  constexpr std::size_t kHead = 27;  // of a page, before its table of segment sizes
  constexpr std::int64_t kLongestPage = 65307;
  constexpr int kLastPage = 4;
  const std::int64_t from = std::max<std::int64_t>(bytes.size() - 2 * kLongestPage, 0);
  std::vector<char> block(static_cast<std::size_t>(bytes.size() - from));
  const auto got = bytes.read_at(from, std::as_writable_bytes(std::span(block)));
  const std::string_view all(block.data(), got.value_or(0));
  const std::size_t start = all.rfind("OggS");
  if (start == std::string_view::npos || all.size() - start < kHead) return false;
  const std::string_view page = all.substr(start);
  const std::size_t segments = number(page.substr(kHead - 1, 1), true);
  std::size_t size = kHead + segments;
  if (page.size() < size) return false;
  for (const char segment : page.substr(kHead, segments)) size += static_cast<unsigned char>(segment);
  return page.size() >= size && (page[5] & kLastPage) != 0;
}

/// The first RIFF chunk says how much belongs to it; long files have more such chunks after it.
bool avi_is_whole(ByteSource& bytes) {
  return static_cast<std::int64_t>(number(Peek(bytes).at(4, 4), false)) + 8 <= bytes.size();
}

/// A whole file ends with the size of its last tag.
bool flv_is_whole(ByteSource& bytes) {
  constexpr std::int64_t kTagHead = 11, kSizeBytes = 4;
  Peek peek(bytes);
  const auto last = static_cast<std::int64_t>(number(peek.at(bytes.size() - kSizeBytes, 4), true));
  const auto tag = peek.at(bytes.size() - kSizeBytes - last, 4);
  return !tag.empty() && static_cast<std::int64_t>(number(tag.substr(1), true)) + kTagHead == last;
}

}  // namespace

std::optional<std::string> broken_ending(ByteSource& bytes) {
  Peek peek(bytes);
  const std::string head(peek.at(0, 12));
  if (head.starts_with("OggS") && !ogg_is_whole(bytes))
    return "the file breaks off without the page that ends an Ogg stream";
  if (head.starts_with("RIFF") && head.ends_with("AVI ") && !avi_is_whole(bytes))
    return "the AVI file is shorter than its header says";
  if (head.starts_with("FLV") && !flv_is_whole(bytes)) return "the FLV file breaks off within a tag";
  return {};
}

}  // namespace tutti
