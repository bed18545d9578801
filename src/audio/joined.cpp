#include "audio/joined.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audio/sound_header.h"

namespace tutti {
namespace {

constexpr int kMostParts = 100'000;  // boxes, chunks and elements that are walked over
constexpr std::string_view kAsf("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c", 16);
constexpr std::string_view kEbml("\x1a\x45\xdf\xa3", 4);
constexpr std::string_view kFlac("fLaC\x00\x00\x00\x22", 8), kFlacAlone("fLaC\x80\x00\x00\x22", 8);
constexpr std::string_view kAmr("#!AMR", 5);

/// What begins with that at the start of a file, whatever the container.
bool begins_recording(std::string_view head) {
  if (head.size() < 16) return false;
  const auto form = head.substr(8, 4);
  if (head.starts_with("RIFF")) return form == "WAVE" || form == "AVI ";
  if (head.starts_with("RF64") || head.starts_with("BW64")) return form == "WAVE";
  if (head.starts_with("FORM")) return form == "AIFF" || form == "AIFC";
  for (const std::string_view magic :
       {std::string_view("riff\x2e\x91\xcf\x11", 8), std::string_view("caff\0\x01", 6),
        std::string_view(".snd\0\0\0", 7), std::string_view("OggS\0\x02", 6), kFlac, kFlacAlone, kAsf, kEbml, kAmr})
    if (head.starts_with(magic)) return true;
  return head.substr(4, 4) == "ftyp";
}

/// Calls `is_found` with what is there wherever `first` is found, from `from` on; the first place where it agrees, else
/// the end.
template <class Found>
std::int64_t search(ByteSource& bytes, std::int64_t from, std::string_view first, Found is_found) {
  constexpr std::size_t kBlock = 1 << 20, kSeen = 64;
  std::vector<char> block(kBlock);
  for (std::int64_t at = from; at < bytes.size();) {
    const auto got = bytes.read_at(at, std::as_writable_bytes(std::span(block)));
    if (!got || *got == 0) break;
    const std::string_view all(block.data(), *got);
    for (std::size_t from_here = 0; from_here < all.size();) {
      const auto* hit = static_cast<const char*>(
          ::memmem(all.data() + from_here, all.size() - from_here, first.data(), first.size()));
      if (!hit) break;
      const auto offset = static_cast<std::size_t>(hit - all.data());
      if (is_found(all.substr(offset, kSeen))) return at + static_cast<std::int64_t>(offset);
      from_here = offset + 1;
    }
    if (*got <= kSeen) break;
    at += static_cast<std::int64_t>(*got - kSeen);
  }
  return bytes.size();
}

/// Chunks of a name of four bytes and a size of four, from `at` on, up to another recording.
std::int64_t behind_chunks(ByteSource& bytes, std::int64_t at, bool big_endian) {
  Peek peek(bytes);
  for (int chunk = 0; chunk < kMostParts && at < bytes.size(); ++chunk) {
    for (const std::int64_t start : {at, at + at % 2})  // an odd size should be filled up, and often is not
      if (begins_recording(peek.at(start, 16))) return start;
    const std::string head(peek.at(at, 8));
    const auto is_printed = [](char c) { return c >= ' ' && c <= '~'; };
    if (head.size() < 8 || !std::ranges::all_of(head.substr(0, 4), is_printed)) break;
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4), big_endian));
    at += 8 + size + size % 2;
  }
  return bytes.size();
}

/// WAV, AIFF, W64, CAF and AU: behind their samples.
std::int64_t chunked_end(ByteSource& bytes, const SoundHeader& header, bool may_search) {
  if (header.container == Container::flac) return bytes.size();
  if (header.is_unsized) {
    const bool is_wave = header.container == Container::wav || header.container == Container::rf64;
    if (!is_wave || !may_search) return bytes.size();
    return search(bytes, header.samples_at + 1, header.container == Container::wav ? "RIFF" : "RF64",
                  [](std::string_view found) {
                    return begins_recording(found) && found.size() > 20 && found.substr(12, 4) == "fmt ";
                  });
  }
  const std::int64_t end = header.samples_at + header.present_bytes;
  if (header.container == Container::wav || header.container == Container::rf64 || header.container == Container::aiff)
    return behind_chunks(bytes, end, header.container == Container::aiff);
  Peek peek(bytes);
  for (std::int64_t at = end; at < end + 8; ++at)  // of W64 to the next multiple
    if (begins_recording(peek.at(at, 16))) return at;
  return bytes.size();
}

std::int64_t avi_end(ByteSource& bytes) {
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int part = 0; part < kMostParts; ++part) {
    const std::string head(peek.at(at, 16));
    if (at > 0 && begins_recording(head)) return at;
    if (!std::string_view(head).starts_with("RIFF")) break;  // the first, and its continuations of the kind AVIX
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4, 4), false));
    at += 8 + size + size % 2;
  }
  return bytes.size();
}

/// MP4 and QuickTime: a second `ftyp`, or whatever else a file begins with, in a row of boxes.
std::int64_t boxes_end(ByteSource& bytes) {
  Peek peek(bytes);
  bool has_sound = false;
  for (std::int64_t at = 0, box = 0; box < kMostParts && at < bytes.size(); ++box) {
    const std::string head(peek.at(at, 16));
    if (has_sound && begins_recording(head)) return at;
    if (head.size() < 16) break;
    const std::string_view kind = std::string_view(head).substr(4, 4);
    has_sound = has_sound || kind == "mdat" || kind == "moof";
    std::uint64_t size = number(std::string_view(head).substr(0, 4), true);
    if (size == 1) size = number(std::string_view(head).substr(8, 8), true);
    if (size < 8 || size > static_cast<std::uint64_t>(bytes.size() - at)) break;
    at += static_cast<std::int64_t>(size);
  }
  return bytes.size();
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
std::int64_t ebml_end(ByteSource& bytes, bool may_search) {
  constexpr std::uint64_t kHead = 0x1a45dfa3;
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int count = 0; count < kMostParts && at < bytes.size(); ++count) {
    const auto element = element_at(peek, at);
    if (!element) break;
    if (at > 0 && element->id == kHead) return at;
    if (!element->end && !may_search) break;
    if (!element->end)
      return search(bytes, element->body, kEbml, [](std::string_view found) {
        return found.find("matroska") != found.npos || found.find("webm") != found.npos;
      });
    if (*element->end > bytes.size() || *element->end <= at) break;
    at = *element->end;
  }
  return bytes.size();
}

/// WMA and ASF: objects of 16 bytes of name and 8 of size.
std::int64_t asf_end(ByteSource& bytes) {
  Peek peek(bytes);
  for (std::int64_t at = 0, count = 0; count < kMostParts && at < bytes.size(); ++count) {
    const std::string head(peek.at(at, 24));
    if (head.size() < 24) break;
    if (at > 0 && std::string_view(head).starts_with(kAsf)) return at;
    const std::uint64_t size = number(std::string_view(head).substr(16), false);
    if (size < 24 || size > static_cast<std::uint64_t>(bytes.size() - at)) break;
    at += static_cast<std::int64_t>(size);
  }
  return bytes.size();
}

}  // namespace

std::int64_t first_recording_end(ByteSource& bytes, bool may_search) {
  if (const auto header = read_sound_header(bytes)) return chunked_end(bytes, *header, may_search);
  const std::string head(Peek(bytes).at(0, 16));
  const std::string_view view = head;
  if (view.size() < 16) return bytes.size();
  if (view.starts_with("RIFF") && view.substr(8, 4) == "AVI ") return avi_end(bytes);
  if (view.starts_with(kEbml)) return ebml_end(bytes, may_search);
  if (view.starts_with(kAsf)) return asf_end(bytes);
  if (view.starts_with(kAmr) && may_search) return search(bytes, 1, kAmr, [](std::string_view) { return true; });
  for (const std::string_view box : {"ftyp", "moov", "mdat", "free", "wide", "skip"})
    if (view.substr(4, 4) == box) return boxes_end(bytes);
  return bytes.size();
}

std::int64_t first_flac_end(ByteSource& bytes) {
  constexpr std::int64_t kLeast = 42;  // of the first one's header
  return search(bytes, kLeast, "fLaC",
                [](std::string_view found) { return found.starts_with(kFlac) || found.starts_with(kFlacAlone); });
}

}  // namespace tutti
