#include <algorithm>
#include <string>
#include <vector>

#include "audio/length/sound_length.h"

namespace tutti {
namespace {

/// How the granule positions of a stream count, from its first packet.
struct Granules {
  double rate = 0;
  double before = 0;  // counted ahead of the sound
};

std::optional<Granules> granules_of(Peek& peek, std::int64_t packet) {
  const std::string head(peek.at(packet, 32));
  const std::string_view view = head;
  if (view.starts_with("OpusHead")) return Granules{48000, static_cast<double>(number(view.substr(10, 2), false))};
  if (view.starts_with("\x01vorbis")) return Granules{static_cast<double>(number(view.substr(12, 4), false)), 0};
  if (view.starts_with("\x7f"
                       "FLAC"))
    return Granules{static_cast<double>(number(view.substr(27, 3), true) >> 4), 0};
  if (view.starts_with("Speex   ")) {
    const auto rate = peek.at(packet + 36, 4);
    if (!rate.empty()) return Granules{static_cast<double>(number(rate, false)), 0};
  }
  return {};
}

}  // namespace

/// Pages as RFC 3533 has them: the last one of the stream says how many samples there are.
std::optional<Seconds> ogg_length(ByteSource& bytes) {
  constexpr std::int64_t kHead = 27, kLongestPage = 65307;
  Peek peek(bytes);
  const std::string first(peek.at(0, kHead));
  if (!first.starts_with("OggS")) return {};
  const std::string serial = first.substr(14, 4);
  const auto granules = granules_of(peek, kHead + static_cast<unsigned char>(first[26]));
  if (!granules || granules->rate <= 0) return {};
  const std::int64_t from = std::max<std::int64_t>(bytes.size() - 2 * kLongestPage, 0);
  std::vector<char> block(static_cast<std::size_t>(bytes.size() - from));
  const auto got = bytes.read_at(from, std::as_writable_bytes(std::span(block)));
  const std::string_view all(block.data(), got.value_or(0));
  for (std::size_t at = all.rfind("OggS"); at != std::string_view::npos;
       at = at ? all.rfind("OggS", at - 1) : all.npos) {
    if (all.size() - at < static_cast<std::size_t>(kHead) || all.substr(at + 14, 4) != serial) continue;
    const std::uint64_t granule = number(all.substr(at + 6, 8), false);
    if (granule == ~std::uint64_t{0}) continue;  // no packet ends on this page
    return Seconds((static_cast<double>(granule) - granules->before) / granules->rate);
  }
  return {};
}

}  // namespace tutti
