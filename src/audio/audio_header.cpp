#include "audio/audio_header.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "audio/recording_start.h"
#include "base/numbers.h"

namespace tutti {
namespace {

/// How a family of containers lays out its chunks.
struct Layout {
  Container container;
  std::string_view magic;  // at the file's start
  std::string_view form;   // the kind, at `form_at`; empty: none
  std::int64_t form_at;
  std::int64_t first_chunk;
  std::size_t id_bytes, size_bytes;
  bool big_endian;
  bool size_counts_head;
  std::int64_t alignment;
  std::string_view samples_id;
  std::int64_t prefix;  // bytes of the sample chunk before the samples
};

constexpr std::array kLayouts{
    Layout{Container::wav, "RIFF", "WAVE", 8, 12, 4, 4, false, false, 2, "data", 0},
    Layout{Container::rf64, "RF64", "WAVE", 8, 12, 4, 4, false, false, 2, "data", 0},
    Layout{Container::aiff, "FORM", "AIFF", 8, 12, 4, 4, true, false, 2, "SSND", 8},
    Layout{Container::aiff, "FORM", "AIFC", 8, 12, 4, 4, true, false, 2, "SSND", 8},
    Layout{Container::w64, "riff", "wave", 24, 40, 16, 8, false, true, 8, "data", 0},
    Layout{Container::caf, "caff", "", 0, 8, 4, 8, true, false, 1, "data", 4},
};

/// Programs that stream and cannot know the size write the largest number, or its half, less at most a block.
bool is_unknown(std::uint64_t size, std::size_t size_bytes) {
  constexpr std::uint64_t kBlock = 1 << 16;
  const std::uint64_t ones = ~std::uint64_t{0} >> (64 - 8 * size_bytes);
  return size > ones - kBlock || (size > ones / 2 - kBlock && size <= ones / 2 + 1);
}

AudioHeader samples_at(ByteSource& bytes, Container container, std::int64_t at, std::optional<std::int64_t> claimed) {
  const std::int64_t rest = std::max<std::int64_t>(bytes.size() - at, 0);
  return {.container = container,
          .claimed_bytes = claimed.value_or(rest),
          .present_bytes = std::min(claimed.value_or(rest), rest),
          .samples_at = at,
          .is_unsized = !claimed};
}

bool is_chunk(std::string_view head, bool big_endian, std::int64_t present) {
  const auto is_printed = [](char c) { return c >= ' ' && c <= '~'; };
  return head.size() == 8 && std::ranges::all_of(head.substr(0, 4), is_printed) &&
         static_cast<std::int64_t>(number(head.substr(4), big_endian)) <= present;
}

/// `end`: of the samples, as the header has it.
std::int64_t unclaimed_behind(ByteSource& bytes, std::int64_t end, bool big_endian) {
  constexpr std::int64_t kLeast = 4096;
  constexpr std::size_t kHead = 8;
  const std::int64_t rest = bytes.size() - end;
  if (rest < kLeast) return 0;
  Peek peek(bytes);
  for (const std::int64_t at : {end, end + end % 2})  // an odd size should be filled up, and often is not
    if (is_chunk(peek.at(at, kHead), big_endian, rest)) return 0;
  const std::int64_t unknown = bytes.size() - behind_tags(bytes, end);
  return unknown < kLeast ? 0 : unknown;
}

/// The bytes of samples in further chunks behind the first of them, which ends at `at`.
std::int64_t further_samples(ByteSource& bytes, std::int64_t at, const Layout& layout) {
  constexpr int kMostChunks = 1000;
  Peek peek(bytes);
  std::int64_t found = 0;
  for (int chunk = 0; chunk < kMostChunks && at < bytes.size(); ++chunk) {
    std::string head(peek.at(at, 8));
    if (at % 2 != 0 && !is_chunk(head, layout.big_endian, bytes.size() - at)) head = peek.at(++at, 8);
    if (!is_chunk(head, layout.big_endian, bytes.size() - at) || head.starts_with(layout.magic)) break;
    const auto size = static_cast<std::int64_t>(number(std::string_view(head).substr(4), layout.big_endian));
    if (head.starts_with(layout.samples_id)) found += std::max<std::int64_t>(size - layout.prefix, 0);
    at += 8 + size;
  }
  return found;
}

/// RF64 keeps the true size of its data in the ds64 chunk that comes first.
std::optional<std::int64_t> rf64_size(Peek& peek) {
  const auto size = peek.at(28, 8);
  if (size.empty()) return {};
  return static_cast<std::int64_t>(number(size, false) & ~(std::uint64_t{1} << 63));
}

std::optional<AudioHeader> find_samples(ByteSource& bytes, const Layout& layout) {
  constexpr int kMostChunks = 1000;
  Peek peek(bytes);
  const auto head_bytes = static_cast<std::int64_t>(layout.id_bytes + layout.size_bytes);
  std::int64_t at = layout.first_chunk;
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    const auto head = peek.at(at, static_cast<std::size_t>(head_bytes));
    if (head.empty()) return {};
    const std::uint64_t raw = number(head.substr(layout.id_bytes), layout.big_endian);
    const bool unknown = is_unknown(raw, layout.size_bytes);
    const auto size = static_cast<std::int64_t>(raw) - (layout.size_counts_head ? head_bytes : 0);
    if (head.substr(0, 4) == layout.samples_id) {
      std::optional<std::int64_t> claimed;
      if (!unknown) claimed = size - layout.prefix;
      if (unknown && layout.container == Container::rf64) claimed = rf64_size(peek);
      if (claimed.value_or(0) < 0) return {};
      const std::int64_t first = at + head_bytes + layout.prefix;
      // A recorder that was stopped before it could say how much there is; FFmpeg reads on, too.
      if (claimed == 0 && layout.container == Container::wav && bytes.size() > first &&
          !is_chunk(peek.at(first, 8), layout.big_endian, bytes.size() - first))
        claimed.reset();
      auto header = samples_at(bytes, layout.container, first, claimed);
      if (layout.size_bytes == 4 && claimed.value_or(0) > 0) {
        header.unclaimed_bytes = unclaimed_behind(bytes, first + *claimed, layout.big_endian);
        header.further_bytes = further_samples(bytes, first + *claimed, layout);
      }
      return header;
    }
    if (unknown || size < 0 || size > bytes.size()) return {};
    at += head_bytes + (size + layout.alignment - 1) / layout.alignment * layout.alignment;
  }
  return {};
}

std::optional<AudioHeader> read_au(ByteSource& bytes) {
  Peek peek(bytes);
  const auto head = peek.at(0, 12);
  if (head.empty()) return {};
  const std::uint64_t size = number(head.substr(8), true);
  std::optional<std::int64_t> claimed;
  if (!is_unknown(size, 4)) claimed = static_cast<std::int64_t>(size);
  return samples_at(bytes, Container::au, static_cast<std::int64_t>(number(head.substr(4, 4), true)), claimed);
}

std::optional<AudioHeader> read_flac(ByteSource& bytes) {
  Peek peek(bytes);
  const auto block = peek.at(4, 4);  // the first metadata block must be a STREAMINFO of 34 bytes, perhaps the only one
  if (block.empty() || (block[0] & 0x7f) != 0 || number(block.substr(1), true) != 34) return {};
  const auto total = peek.at(kFlacTotalOffset, 5);
  if (total.empty()) return {};
  const auto frames = number(total, true) & 0xf'ffff'ffff;
  return AudioHeader{.container = Container::flac, .frames = static_cast<std::int64_t>(frames)};
}

/// Whether the file ends with a whole page that is marked as its stream's last.
bool ogg_is_whole(ByteSource& bytes) {
  constexpr std::size_t kHead = 27;  // size of a page's head before its table of segment sizes
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

/// The first RIFF chunk holds its own size; long files have more such chunks after it.
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

/// Whether the objects of an ASF file say that there is more.
bool asf_is_whole(ByteSource& bytes) {
  constexpr int kMostObjects = 1000;
  Peek peek(bytes);
  std::int64_t at = 0;
  for (int object = 0; object < kMostObjects && at < bytes.size(); ++object) {
    const std::string_view size = peek.at(at + 16, 8);
    if (size.empty() || number(size, false) < 24) return true;
    if (number(size, false) > static_cast<std::uint64_t>(bytes.size() - at)) return false;
    at += static_cast<std::int64_t>(number(size, false));
  }
  return true;
}

}  // namespace

std::optional<AudioHeader> read_audio_header(ByteSource& bytes) {
  std::array<char, 32> start{};
  const auto got = bytes.read_at(0, std::as_writable_bytes(std::span(start)));
  const std::string_view head(start.data(), got.value_or(0));
  if (head.starts_with("fLaC")) return read_flac(bytes);
  if (head.starts_with(".snd")) return read_au(bytes);
  for (const Layout& layout : kLayouts)
    if (head.size() == start.size() && head.starts_with(layout.magic) &&
        head.substr(static_cast<std::size_t>(layout.form_at), layout.form.size()) == layout.form)
      return find_samples(bytes, layout);
  return {};
}

std::optional<std::string> unclaimed_rest(const AudioHeader& header, Seconds decoded) {
  const auto lasting = [&](std::int64_t bytes) {
    std::string text = std::to_string(bytes) + " bytes";
    if (decoded > Seconds(0) && header.present_bytes > 0)
      text += " (about " +
              fixed_text(decoded.count() * static_cast<double>(bytes) / static_cast<double>(header.present_bytes), 1) +
              " s)";
    return text;
  };
  if (header.unclaimed_bytes > 0)
    return "the header is wrong: it promises " + std::to_string(header.claimed_bytes) + " bytes of samples, and " +
           lasting(header.unclaimed_bytes) +
           " more follow that are nothing else. They are not decoded; ffmpeg -ignore_length 1 -i FILE -c copy NEW.w64 "
           "writes a file that has them";
  if (header.further_bytes > 0)
    return "the file has more than one chunk of samples: only the first is decoded, and " +
           lasting(header.further_bytes) + " in further ones are not";
  return {};
}

std::optional<std::string> broken_ending(ByteSource& bytes) {
  Peek peek(bytes);
  const std::string head(peek.at(0, 12));
  if (head.starts_with("OggS") && !ogg_is_whole(bytes))
    return "the file breaks off without the page that ends an Ogg stream";
  if (head.starts_with("RIFF") && head.ends_with("AVI ") && !avi_is_whole(bytes))
    return "the AVI file is shorter than its header promises";
  if (head.starts_with("\x30\x26\xb2\x75\x8e\x66\xcf\x11") && !asf_is_whole(bytes))
    return "the ASF file is shorter than its header promises";
  if (head.starts_with("FLV") && !flv_is_whole(bytes)) return "the FLV file breaks off within a tag";
  return {};
}

}  // namespace tutti
