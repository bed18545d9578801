#include <string_view>

#include "audio/length/sound_length.h"

namespace tutti {
namespace {

struct Box {
  std::int64_t body = 0;
  std::int64_t end = 0;
};

/// The first box of a kind in [at, end) (ISO 14496-12).
std::optional<Box> find_box(Peek& peek, std::int64_t at, std::int64_t end, std::string_view kind) {
  constexpr int kMostBoxes = 10'000;
  for (int box = 0; box < kMostBoxes && at < end; ++box) {
    const auto head = peek.at(at, 8);
    if (head.empty()) return {};
    const bool found = head.substr(4) == kind;
    std::uint64_t size = number(head.substr(0, 4), true);
    std::int64_t body = at + 8;
    if (size == 1) {  // the size takes 64 bits
      const auto large = peek.at(body, 8);
      if (large.empty()) return {};
      size = number(large, true);
      body += 8;
    }
    if (size == 0) size = static_cast<std::uint64_t>(end - at);  // to the end
    if (size < static_cast<std::uint64_t>(body - at) || size > std::uint64_t{1} << 48) return {};
    if (found) return Box{body, at + static_cast<std::int64_t>(size)};
    at += static_cast<std::int64_t>(size);
  }
  return {};
}

}  // namespace

std::optional<Seconds> mp4_length(ByteSource& bytes) {
  Peek peek(bytes);
  const std::string_view start = peek.at(4, 4);
  if (start != "ftyp" && start != "moov" && start != "mdat" && start != "free" && start != "wide") return {};
  const auto movie = find_box(peek, 0, bytes.size(), "moov");
  const auto header = movie ? find_box(peek, movie->body, movie->end, "mvhd") : std::nullopt;
  if (!header) return {};
  const auto version = peek.at(header->body, 1);
  if (version.empty()) return {};
  const bool wide = version[0] == 1;
  const auto facts = peek.at(header->body + (wide ? 20 : 12), wide ? 12 : 8);
  if (facts.empty() || number(facts.substr(0, 4), true) == 0) return {};
  const std::uint64_t length = number(facts.substr(4), true);
  const std::uint64_t unknown = ~std::uint64_t{0} >> (wide ? 0 : 32);
  if (length == unknown) return {};
  return Seconds(static_cast<double>(length) / static_cast<double>(number(facts.substr(0, 4), true)));
}

}  // namespace tutti
