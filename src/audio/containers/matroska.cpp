#include <bit>

#include "audio/containers/audio_length.h"

namespace tutti {
namespace {

constexpr std::uint64_t kEbml = 0x1a45dfa3, kSegment = 0x18538067, kInfo = 0x1549a966, kScale = 0x2ad7b1,
                        kDuration = 0x4489, kCluster = 0x1f43b675, kTracks = 0x1654ae6b, kTrack = 0xae,
                        kTrackType = 0x83;

struct Element {
  std::uint64_t id = 0;
  std::int64_t body = 0;
  std::int64_t end = 0;
};

/// A number whose first byte encodes how many follow; with its marker bit for an id, without for a size (RFC 8794).
std::optional<std::uint64_t> read_number(Peek& peek, std::int64_t& at, bool keep_marker) {
  const auto first = peek.at(at, 1);
  if (first.empty() || first[0] == 0) return {};
  const int more = std::countl_zero(static_cast<unsigned char>(first[0]));
  const auto all = peek.at(at, static_cast<std::size_t>(more) + 1);
  if (all.empty()) return {};
  at += more + 1;
  const std::uint64_t value = number(all, true);
  return keep_marker ? value : value & ~(std::uint64_t{1} << (7 * (more + 1)));
}

/// The element at `at`; one of unknown size reaches to `end`.
std::optional<Element> element_at(Peek& peek, std::int64_t at, std::int64_t end) {
  const auto id = read_number(peek, at, true);
  const std::int64_t size_at = at;
  const auto size = id ? read_number(peek, at, false) : std::nullopt;
  if (!size || at > end) return {};  // its own header may reach beyond what holds it
  const bool unknown = *size == (std::uint64_t{1} << (7 * (at - size_at))) - 1;
  if (!unknown && *size > static_cast<std::uint64_t>(end - at)) return Element{*id, at, end};
  return Element{*id, at, unknown ? end : at + static_cast<std::int64_t>(*size)};
}

std::optional<Element> find_element(Peek& peek, const Element& in, std::uint64_t id) {
  constexpr int kMostElements = 10'000;
  std::int64_t at = in.body;
  for (int seen = 0; seen < kMostElements && at < in.end; ++seen) {
    const auto element = element_at(peek, at, in.end);
    if (!element || element->id == kCluster) return {};  // what describes the file comes before its content
    if (element->id == id) return element;
    at = element->end;
  }
  return {};
}

/// Whether the segment behind the head claims more than the file has.
bool is_cut(Peek& peek, std::int64_t file_end, std::int64_t at) {
  if (read_number(peek, at, true) != kSegment) return false;
  const std::int64_t size_at = at;
  const auto size = read_number(peek, at, false);
  const bool unknown = size && *size == (std::uint64_t{1} << (7 * (at - size_at))) - 1;
  return size && !unknown && *size > static_cast<std::uint64_t>(file_end - at);
}

/// The length of the whole may be that of a picture, or of another language.
bool has_one_track(Peek& peek, const Element& segment) {
  constexpr int kMostTracks = 1000;
  const auto tracks = find_element(peek, segment, kTracks);
  int found = 0;
  for (std::int64_t at = tracks ? tracks->body : 0, seen = 0; tracks && at < tracks->end && seen < kMostTracks;
       ++seen) {
    const auto track = element_at(peek, at, tracks->end);
    if (!track) break;
    constexpr std::uint64_t kSubtitle = 0x11;
    const auto type = track->id == kTrack ? find_element(peek, *track, kTrackType) : std::nullopt;
    if (type && number(peek.at(type->body, 1), true) != kSubtitle) ++found;
    at = track->end;
  }
  return found <= 1;
}

}  // namespace

std::optional<Seconds> matroska_length(ByteSource& bytes) {
  Peek peek(bytes);
  const Element file{0, 0, bytes.size()};
  const auto head = element_at(peek, 0, bytes.size());
  if (!head || head->id != kEbml) return {};
  const auto segment = find_element(peek, file, kSegment);
  const auto info = segment ? find_element(peek, *segment, kInfo) : std::nullopt;
  if (is_cut(peek, bytes.size(), head->end) || (segment && !has_one_track(peek, *segment))) return {};
  const auto duration = info ? find_element(peek, *info, kDuration) : std::nullopt;
  if (!duration) return {};
  const auto scale = find_element(peek, *info, kScale);
  double nanoseconds = 1e6;
  if (scale && scale->end - scale->body <= 8)
    nanoseconds =
        static_cast<double>(number(peek.at(scale->body, static_cast<std::size_t>(scale->end - scale->body)), true));
  const auto raw = peek.at(duration->body, static_cast<std::size_t>(duration->end - duration->body) == 4 ? 4 : 8);
  if (raw.empty()) return {};
  const double ticks = raw.size() == 4 ? std::bit_cast<float>(static_cast<std::uint32_t>(number(raw, true)))
                                       : std::bit_cast<double>(number(raw, true));
  return Seconds(ticks * nanoseconds / 1e9);
}

}  // namespace tutti
