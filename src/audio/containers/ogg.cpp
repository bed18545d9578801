#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "audio/containers/audio_length.h"

namespace tutti {
namespace {

constexpr std::int64_t kHead = 27, kLongestPage = 65307;
constexpr std::uint64_t kNoPacketEnds = ~std::uint64_t{0};

/// How the granule positions of a stream count, from its first packet.
struct Granules {
  double rate = 0;
  double before = 0;         // counted ahead of the audio
  double most_a_packet = 0;  // samples in one at most
};

std::optional<Granules> granules_of(Peek& peek, std::int64_t packet) {
  const std::string head(peek.at(packet, 32));
  const std::string_view view = head;
  if (view.starts_with("OpusHead"))
    return Granules{48000, static_cast<double>(number(view.substr(10, 2), false)), 5760};
  if (view.starts_with("\x01vorbis"))
    return Granules{static_cast<double>(number(view.substr(12, 4), false)), 0,
                    static_cast<double>(1U << (static_cast<unsigned char>(view[28]) >> 4)) / 2};
  if (view.starts_with("\x7f"
                       "FLAC"))
    return Granules{static_cast<double>(number(view.substr(27, 3), true) >> 4), 0,
                    static_cast<double>(number(view.substr(19, 2), true))};
  if (view.starts_with("Speex   ")) {
    const std::string facts(peek.at(packet + 36, 32));
    if (facts.size() == 32)
      return Granules{static_cast<double>(number(std::string_view(facts).substr(0, 4), false)), 0,
                      static_cast<double>(number(std::string_view(facts).substr(20, 4), false) *
                                          number(std::string_view(facts).substr(28, 4), false))};
  }
  return {};
}

struct Page {
  std::int64_t at = 0;
  bool is_first = false;       // the first page of its stream
  std::uint64_t granule = 0;   // granule position of the last packet that ends on it
  std::uint64_t sequence = 0;  // pages of the stream before it
  double packets = 0;          // that end on it
  bool is_ours = true;         // a page of the file's first stream
};

/// The pages of a stream that begin in [from, to) and are all there, as RFC 3533 has them, and those that begin
/// another.
std::vector<Page> pages_in(ByteSource& bytes, std::int64_t from, std::int64_t to, std::string_view serial) {
  const std::int64_t wanted = std::min(to - from + kHead + 255, bytes.size() - from);
  std::vector<char> block(static_cast<std::size_t>(std::max<std::int64_t>(wanted, 0)));
  const auto got = bytes.read_at(from, std::as_writable_bytes(std::span(block)));
  const std::string_view all(block.data(), got.value_or(0));
  std::vector<Page> pages;
  for (std::size_t at = all.find("OggS"); at != all.npos; at = all.find("OggS", at + 4)) {
    if (from + static_cast<std::int64_t>(at) >= to || all.size() - at < static_cast<std::size_t>(kHead)) break;
    const bool is_ours = all.substr(at + 14, 4) == serial, is_first = (all[at + 5] & 2) != 0;
    if (all[at + 4] != 0 || (!is_ours && !is_first)) continue;
    Page page{from + static_cast<std::int64_t>(at),  is_first, number(all.substr(at + 6, 8), false),
              number(all.substr(at + 18, 4), false), 0,        is_ours};
    const auto segments = static_cast<unsigned char>(all[at + 26]);
    std::int64_t end = page.at + kHead + segments;
    for (const char size : all.substr(at + kHead, segments)) {
      page.packets += static_cast<unsigned char>(size) < 255 ? 1 : 0;
      end += static_cast<unsigned char>(size);
    }
    if (end <= bytes.size()) pages.push_back(page);
  }
  return pages;
}

/// Looks at parts of a file: whether pages count on in all of them, as those of one whole stream do, and up to where.
class Stream {
 public:
  explicit Stream(const Granules& granules) : granules_(granules) {}

  bool takes(const Page& page) {
    if (!page.is_ours) return !has_any_ || sequence_ == 0;                        // beside ours, or behind it
    if (has_any_ && (page.is_first || page.sequence <= sequence_)) return false;  // another begins
    has_any_ = true;
    sequence_ = page.sequence;
    if (page.granule == kNoPacketEnds || page.granule == 0) return true;
    if (page.granule < last_) return false;
    if (last_ == 0 && !begins_at_zero(page)) return false;
    if (last_ > 0 && pages_ == 1 && !goes_on_as_it_began(page)) return false;
    if (last_ == 0) packets_ = page.packets;
    ++pages_;
    last_ = page.granule;
    return true;
  }
  std::optional<Seconds> length() const {
    if (last_ == 0) return {};
    return Seconds((static_cast<double>(last_) - granules_.before) / granules_.rate);
  }

 private:
  /// The first page with audio gives its start: a part that was cut out of a longer one goes on counting.
  bool begins_at_zero(const Page& page) const {
    return static_cast<double>(page.granule) <= (page.packets + 1) * granules_.most_a_packet;
  }

  /// Where all packets are alike, those of the first page last what those of the second do: a part that was cut out of
  /// a longer one, and counts from later in it, has more of them.
  bool goes_on_as_it_began(const Page& page) const {
    constexpr double kRounding = 0.1;
    if (granules_.before == 0 || page.packets == 0 || 2 * page.packets < packets_) return true;  // the last is trimmed
    const double packet = (static_cast<double>(page.granule) - static_cast<double>(last_)) / page.packets;
    return std::abs(packets_ * packet - static_cast<double>(last_)) <= kRounding * granules_.rate;
  }

  Granules granules_;
  double packets_ = 0;  // packets of the first page with audio
  int pages_ = 0;       // with audio
  bool has_any_ = false;
  std::uint64_t sequence_ = 0, last_ = 0;
};

}  // namespace

std::optional<Seconds> ogg_length(ByteSource& bytes) {
  constexpr std::int64_t kParts = 8, kPart = 1 << 14, kTail = 2 * kLongestPage;
  Peek peek(bytes);
  const std::string first(peek.at(0, kHead));
  if (!first.starts_with("OggS")) return {};
  const auto granules = granules_of(peek, kHead + static_cast<unsigned char>(first[26]));
  if (!granules || granules->rate <= 0) return {};
  Stream stream(*granules);
  const std::int64_t tail = std::max<std::int64_t>(bytes.size() - kTail, 0);
  std::int64_t read_to = 0;
  for (std::int64_t part = 0; part <= kParts; ++part) {
    const std::int64_t from = std::max(tail / kParts * part, read_to);
    const std::int64_t to = part == kParts ? bytes.size() : std::min(from + kPart, tail);
    if (from >= to) continue;
    const auto pages = pages_in(bytes, from, to, std::string_view(first).substr(14, 4));
    for (const Page& page : pages)
      if (!stream.takes(page)) return {};
    if (pages.empty() && part == kParts) return {};  // another stream ends the file
    read_to = to;
  }
  return stream.length();
}

}  // namespace tutti
