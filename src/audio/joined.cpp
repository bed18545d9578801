#include "audio/joined.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <string_view>

#include "audio/audio_header.h"
#include "audio/mpeg_frame.h"
#include "audio/recording_start.h"

namespace tutti {
namespace {

constexpr int kMostParts = 100'000;  // boxes, chunks and elements that are walked over

/// How far the structure of a recording reaches; behind it another may begin.
struct Extent {
  std::int64_t end = 0;
  bool is_measured = true;  // false: the recording goes on there, and only a search finds its end
};

/// Chunks of a name of four bytes and a size of four, from `at` on, up to another recording.
Extent behind_chunks(ByteSource& bytes, std::int64_t at, bool big_endian) {
  Peek peek(bytes);
  for (int chunk = 0; chunk < kMostParts && at < bytes.size(); ++chunk) {
    for (const std::int64_t start : {at, at + at % 2})  // an odd size should be filled up, and often is not
      if (recording_begins(bytes, start)) return {start};
    const std::string head(peek.at(at, 8));
    const auto is_printed = [](char c) { return c >= ' ' && c <= '~'; };
    if (head.size() < 8 || !std::ranges::all_of(head.substr(0, 4), is_printed)) break;
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4), big_endian));
    if (size > bytes.size() - at) break;
    at += 8 + size + size % 2;
  }
  return {at};
}

/// WAV, AIFF, W64, CAF and AU: behind their samples.
Extent chunked_extent(ByteSource& bytes, const AudioHeader& header) {
  if (header.is_unsized || header.present_bytes < header.claimed_bytes) return {header.samples_at + 1, false};
  const std::int64_t end = header.samples_at + header.present_bytes;
  if (header.container == Container::wav || header.container == Container::rf64 || header.container == Container::aiff)
    return behind_chunks(bytes, end, header.container == Container::aiff);
  return {end};
}

Extent avi_extent(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int part = 0; part < kMostParts; ++part) {
    const std::string head(peek.at(at, 12));  // the first, and its continuations of the kind AVIX
    if (!head.starts_with("RIFF") || !head.ends_with(at == 0 ? "AVI " : "AVIX")) break;
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4, 4), false));
    at += 8 + size + size % 2;
  }
  return {at};
}

/// MP4 and QuickTime: a second `ftyp`, or whatever else a file begins with, in a row of boxes.
Extent boxes_extent(ByteSource& bytes) {
  Peek peek(bytes);
  bool has_audio = false;
  std::int64_t at = 0;
  for (int box = 0; box < kMostParts && at < bytes.size(); ++box) {
    const std::string head(peek.at(at, 16));
    if (head.size() < 16 || (has_audio && recording_begins(bytes, at))) break;
    const std::string_view kind = std::string_view(head).substr(4, 4);
    has_audio = has_audio || kind == "mdat" || kind == "moof";
    std::uint64_t size = number(std::string_view(head).substr(0, 4), true);
    if (size == 1) size = number(std::string_view(head).substr(8, 8), true);
    if (size < 8) break;
    if (size > static_cast<std::uint64_t>(bytes.size() - at)) return {at + 1, false};
    at += static_cast<std::int64_t>(size);
  }
  return {at};
}

struct Element {
  std::uint64_t id = 0;
  std::int64_t body = 0;
  std::optional<std::int64_t> end{};  // none: of unknown size
};

std::optional<Element> element_at(Peek& peek, std::int64_t at) {
  Element element;
  for (const bool is_id : {true, false}) {
    const auto first = peek.at(at, 1);
    if (first.empty() || first[0] == 0) return {};
    const int more = std::countl_zero(static_cast<unsigned char>(first[0]));
    const auto all = peek.at(at, static_cast<std::size_t>(more) + 1);
    if (all.empty()) return {};
    const std::uint64_t value = number(all, true);
    at += more + 1;
    if (is_id) {
      element.id = value;
      continue;
    }
    const std::uint64_t ones = (std::uint64_t{1} << (7 * (more + 1))) - 1;
    element.body = at;
    if ((value & ones) != ones) element.end = at + static_cast<std::int64_t>(value & ones);
  }
  return element;
}

/// Matroska and WebM: another EBML head behind a segment.
Extent ebml_extent(ByteSource& bytes) {
  constexpr std::uint64_t kHead = 0x1a45dfa3;
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int count = 0; count < kMostParts && at < bytes.size(); ++count) {
    const auto element = element_at(peek, at);
    if (!element || (at > 0 && element->id == kHead)) break;
    if (!element->end || *element->end > bytes.size() || *element->end <= at) return {element->body, false};
    at = *element->end;
  }
  return {at};
}

/// WMA and ASF: objects of 16 bytes of name and 8 of size.
Extent asf_extent(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int count = 0; count < kMostParts && at < bytes.size(); ++count) {
    const std::string head(peek.at(at, 24));
    if (head.size() < 24 || (at > 0 && recording_begins(bytes, at))) break;
    const std::uint64_t size = number(std::string_view(head).substr(16), false);
    if (size < 24 || size > static_cast<std::uint64_t>(bytes.size() - at)) return {at + 1, false};
    at += static_cast<std::int64_t>(size);
  }
  return {at};
}

Extent wavpack_extent(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = 0;
  while (at < bytes.size()) {
    const std::string head(peek.at(at, 8));
    if (!head.starts_with("wvpk") || (at > 0 && recording_begins(bytes, at))) break;
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4, 4), false));
    if (size > bytes.size() - at) return {at + 1, false};
    at += 8 + size;
  }
  return {at};
}

/// TTA has a table of its frames' sizes.
Extent tta_extent(ByteSource& bytes) {
  constexpr std::int64_t kHead = 22, kCrc = 4;
  Peek peek(bytes);
  const std::string head(peek.at(0, kHead));
  if (head.empty()) return {1, false};
  const std::string_view view = head;
  const auto frame = static_cast<std::int64_t>(number(view.substr(10, 4), false) * 256 / 245);
  const auto samples = static_cast<std::int64_t>(number(view.substr(14, 4), false));
  if (frame == 0) return {1, false};
  const std::int64_t frames = (samples + frame - 1) / frame;
  std::int64_t end = kHead + 4 * frames + kCrc;
  for (std::int64_t i = 0; i < frames; ++i) {
    const auto size = peek.at(kHead + 4 * i, 4);
    if (size.empty()) break;
    end += static_cast<std::int64_t>(number(size, false));
  }
  return end <= bytes.size() ? Extent{end} : Extent{1, false};
}

/// VOC: blocks of a kind and a size of three bytes, up to one of the kind zero.
Extent voc_extent(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = static_cast<std::int64_t>(number(peek.at(20, 2), false));
  for (int block = 0; at > 0 && block < kMostParts && at < bytes.size(); ++block) {
    const std::string head(peek.at(at, 4));
    if (head.empty() || head[0] == 0) return {at + 1};
    if (recording_begins(bytes, at)) return {at};
    at += 4 + static_cast<std::int64_t>(number(std::string_view(head).substr(1), false));
  }
  return {at};
}

/// Ogg: pages, up to one that begins a stream behind those of another.
Extent ogg_extent(ByteSource& bytes) {
  constexpr std::int64_t kHead = 27;
  constexpr int kFirst = 2;
  Peek peek(bytes);
  bool has_content = false;
  std::int64_t at = 0, last = 0;
  while (at < bytes.size()) {
    const std::string head(peek.at(at, kHead));
    if (!head.starts_with("OggS")) break;
    const bool is_first = (head[5] & kFirst) != 0;
    if (is_first && has_content) return {at};
    has_content = has_content || !is_first;
    last = at;
    const auto segments = static_cast<unsigned char>(head[26]);
    std::int64_t size = kHead + segments;
    for (int i = 0; i < segments; i += 32)
      for (const char segment : peek.at(at + kHead + i, static_cast<std::size_t>(std::min(32, segments - i))))
        size += static_cast<unsigned char>(segment);
    at += size;
  }
  // The last page may be cut short, and the next recording begin within what it should have had.
  return at > bytes.size() || peek.at(at, 1) != "\0" ? Extent{last + 1, false} : Extent{at};
}

/// MP3, and layers I and II: frames, up to a tag with others behind it or to one that an encoder begins a file with.
Extent mpeg_extent(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = 0;
  if (!first_mpeg_frames(peek, behind_id3(peek, 0), at)) return {1, false};
  for (bool is_first = true; at < bytes.size(); is_first = false) {
    const auto frame = mpeg_frame_at(peek, at);
    if (!frame) {
      const std::int64_t behind = behind_tags(bytes, at);
      if (behind >= bytes.size() || recording_begins(bytes, behind)) return {behind};
      if (!first_mpeg_frames(peek, behind, at)) return {behind, false};  // else damage
      continue;
    }
    if (!is_first && encoder_count(peek, at, *frame)) return {at};
    at += frame->size;
  }
  return {at};
}

Extent extent_of(ByteSource& bytes) {
  if (const auto header = read_audio_header(bytes); header && header->container != Container::flac)
    return chunked_extent(bytes, *header);
  const std::string head(Peek(bytes).at(0, 32));
  const std::string_view view = head;
  if (view.size() < 32) return {bytes.size()};
  if (view.starts_with("RIFF") && view.substr(8, 4) == "AVI ") return avi_extent(bytes);
  if (view.starts_with("\x1a\x45\xdf\xa3")) return ebml_extent(bytes);
  if (view.starts_with("\x30\x26\xb2\x75\x8e\x66\xcf\x11")) return asf_extent(bytes);
  if (view.starts_with("wvpk")) return wavpack_extent(bytes);
  if (view.starts_with("TTA1")) return tta_extent(bytes);
  if (view.starts_with("Creative Voice File")) return voc_extent(bytes);
  if (view.starts_with("OggS")) return ogg_extent(bytes);
  for (const std::string_view box : {"ftyp", "moov", "mdat", "free", "wide", "skip"})
    if (view.substr(4, 4) == box) return boxes_extent(bytes);
  return {1, false};
}

bool is_mpeg(ByteSource& bytes) {
  Peek peek(bytes);
  return mpeg_frames_begin(peek, behind_id3(peek, 0));
}

}  // namespace

FirstRecording first_recording(ByteSource& file, bool may_search) {
  constexpr std::int64_t kShort = 1 << 20;  // is searched in any case
  const FirstRecording all{file.size(), file.size()};
  BlockBytes bytes(file);
  const std::string head(Peek(bytes).at(0, 4));
  const bool is_paged = head == "OggS";
  if (is_paged && !may_search) return all;  // as of MP3, what counts them reads all of it
  Extent extent = may_search && !is_paged && is_mpeg(bytes) ? mpeg_extent(bytes) : extent_of(bytes);
  if (extent.end >= file.size()) return all;
  const std::int64_t end = extent.end;
  if (extent.is_measured) extent.end = behind_tags(bytes, end);
  FirstRecording first = all;
  if (extent.is_measured && recording_begins(bytes, extent.end))
    first.next = extent.end;
  else if (may_search || (extent.is_measured && file.size() - extent.end <= kShort))
    first.next = find_recording(bytes, extent.end);
  first.end = extent.is_measured && head == "wvpk" ? end : first.next;
  return first;
}

}  // namespace tutti
