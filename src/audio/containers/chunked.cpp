#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "audio/audio_header.h"
#include "audio/byte_source.h"
#include "audio/containers/audio_length.h"
#include "base/units.h"

namespace tutti {
namespace {

/// What every frame must say again.
struct Stream {
  std::int64_t largest_block = 0;
  std::uint64_t rate = 0;
  std::uint64_t channels = 0;
};

/// The samples of a channel that a frame holds: [start, end).
struct Frame {
  std::int64_t start = 0;
  std::int64_t end = 0;
};

std::optional<Stream> read_stream(ByteSource& bytes) {
  Peek peek(bytes);
  const std::string_view info = peek.at(8, 16);  // behind "fLaC" and the head of its first block
  if (info.empty()) return {};
  return Stream{static_cast<std::int64_t>(number(info.substr(2, 2), true)), number(info.substr(10, 3), true) >> 4,
                ((static_cast<unsigned char>(info[12]) >> 1) & 7U) + 1U};
}

/// CRC-8 with the polynomial x^8 + x^2 + x + 1.
unsigned crc8(std::string_view bytes) {
  unsigned crc = 0;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc << 1 ^ (crc & 0x80 ? 0x107U : 0)) & 0x1ff;
  }
  return crc & 0xff;
}

/// A number coded as UTF-8 codes characters, of up to 36 bits; moves `at` behind it.
std::optional<std::int64_t> coded_number(std::string_view head, std::size_t& at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  int more = 0;
  for (unsigned bit = 0x80; bit & byte(at) && more < 8; bit >>= 1) ++more;
  if (more == 1 || more == 8 || at + 8 > head.size()) return {};
  std::int64_t value = more == 0 ? byte(at) : byte(at) & (0x7f >> more);
  for (int i = 1; i < more; ++i) {
    if ((byte(at + static_cast<std::size_t>(i)) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(at + static_cast<std::size_t>(i)) & 0x3f);
  }
  at += static_cast<std::size_t>(std::max(more, 1));
  return value;
}

/// The frame whose header begins `head`, which goes on for 16 bytes (RFC 9639, section 9.1).
std::optional<Frame> frame_in(std::string_view head, const Stream& stream) {
  constexpr std::size_t kLongest = 16;
  if (head.size() < kLongest) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(head[i])); };
  if (byte(0) != 0xff || (byte(1) & 0xfe) != 0xf8 || (byte(3) & 1) != 0) return {};
  const unsigned block_code = byte(2) >> 4, rate_code = byte(2) & 15, channel_code = byte(3) >> 4;
  const unsigned channels = channel_code < 8 ? channel_code + 1 : 2;
  if (block_code == 0 || rate_code == 15 || channel_code > 10 || channels != stream.channels) return {};
  std::size_t at = 4;
  const auto counted = coded_number(head, at);
  if (!counted) return {};
  std::int64_t block = block_code == 1 ? 192 : block_code < 6 ? 576 << (block_code - 2) : 0;
  if (block_code >= 8) {
    block = 256 << (block_code - 8);
  } else if (block_code >= 6) {
    const std::size_t size = block_code - 5;
    block = static_cast<std::int64_t>(number(head.substr(at, size), true)) + 1;
    at += size;
  }
  at += rate_code == 12 ? 1 : rate_code > 12 ? 2 : 0;
  if (at >= head.size() || crc8(head.substr(0, at)) != byte(at) || block > stream.largest_block) return {};
  const bool by_sample = (byte(1) & 1) != 0;
  const std::int64_t start = by_sample ? *counted : *counted * stream.largest_block;
  return Frame{start, start + block};
}

/// The frames that begin in [from, from + size).
std::vector<Frame> frames_in(ByteSource& bytes, std::int64_t from, std::size_t size, const Stream& stream) {
  std::vector<char> block(size);
  const auto got = bytes.read_at(from, std::as_writable_bytes(std::span(block)));
  const std::string_view all(block.data(), got.value_or(0));
  std::vector<Frame> frames;
  for (std::size_t at = all.find('\xff'); at != all.npos; at = all.find('\xff', at + 1))
    if (const auto frame = frame_in(all.substr(at, 16), stream)) frames.push_back(*frame);
  return frames;
}

/// How long a FLAC file is by its header, where its last frame agrees, and frames on the way count up to it: files are
/// cut, joined, and written by programs that never came to filling in how long they are.
std::optional<Seconds> flac_length(ByteSource& bytes, const AudioHeader& header) {
  constexpr std::int64_t kTail = 1 << 16, kPart = 1 << 14, kParts = 8;
  const auto stream = read_stream(bytes);
  if (!stream || stream->rate == 0) return {};
  const std::int64_t tail = std::max<std::int64_t>(bytes.size() - kTail, 0);
  std::int64_t read_to = 0;
  Frame last;
  for (std::int64_t part = 0; part <= kParts; ++part) {
    const std::int64_t from = std::max(tail / kParts * part, read_to);
    const std::int64_t to = part == kParts ? bytes.size() : std::min(from + kPart, tail);
    if (from >= to) continue;
    for (const Frame& frame : frames_in(bytes, from, static_cast<std::size_t>(to - from), *stream)) {
      if (frame.start < last.end) return {};  // counting has begun again
      last = frame;
    }
    read_to = to;
  }
  if (last.end == 0 || (header.frames != 0 && last.end != header.frames)) return {};
  return Seconds(static_cast<double>(last.end) / static_cast<double>(stream->rate));
}

/// The layout of a container's chunks, and which of them holds the bytes a second.
struct Chunks {
  std::int64_t first;
  std::size_t id_bytes, size_bytes;
  bool big_endian;
  bool size_counts_head;
  std::int64_t alignment;
  std::string_view format_id;
};

/// The body's offset of the chunk that describes the samples.
std::optional<std::int64_t> find_format(Peek& peek, const Chunks& chunks) {
  constexpr int kMostChunks = 1000;
  const auto head_bytes = static_cast<std::int64_t>(chunks.id_bytes + chunks.size_bytes);
  std::int64_t at = chunks.first;
  for (int chunk = 0; chunk < kMostChunks; ++chunk) {
    const auto head = peek.at(at, static_cast<std::size_t>(head_bytes));
    if (head.empty()) return {};
    if (head.starts_with(chunks.format_id)) return at + head_bytes;
    const auto size = static_cast<std::int64_t>(number(head.substr(chunks.id_bytes), chunks.big_endian)) -
                      (chunks.size_counts_head ? head_bytes : 0);
    if (size < 0 || size > std::int64_t{1} << 48) return {};
    at += head_bytes + (size + chunks.alignment - 1) / chunks.alignment * chunks.alignment;
  }
  return {};
}

std::optional<Seconds> of_bytes(std::int64_t bytes, double bytes_per_second) {
  if (!(bytes_per_second > 0)) return {};
  return Seconds(static_cast<double>(bytes) / bytes_per_second);
}

/// Frames of a channel in so many bytes, by the WAVE format chunk; none for a format without a constant rate. The
/// chunk's bytes a second are often wrong, and are ignored.
std::optional<double> wave_frames(std::string_view format, std::int64_t bytes) {
  constexpr std::uint64_t kPcm = 1, kMsAdpcm = 2, kFloat = 3, kALaw = 6, kMuLaw = 7, kImaAdpcm = 0x11, kGsm = 0x31,
                          kExtensible = 0xfffe;
  std::uint64_t tag = number(format.substr(0, 2), false);
  const auto channels = static_cast<std::int64_t>(number(format.substr(2, 2), false));
  const auto align = static_cast<std::int64_t>(number(format.substr(12, 2), false));
  const auto bits = static_cast<std::int64_t>(number(format.substr(14, 2), false));
  if (tag == kExtensible) tag = format.size() >= 26 ? number(format.substr(24, 2), false) : 0;
  if (channels < 1 || align < 1) return {};
  const auto of_blocks = [&](std::int64_t samples) -> std::optional<double> {
    if (samples < 1) return {};
    const auto blocks = bytes / align;  // whole ones
    return static_cast<double>(blocks) * static_cast<double>(samples);
  };
  switch (tag) {
    case kPcm:
    case kFloat:
    case kALaw:
    case kMuLaw: return align == channels * ((bits + 7) / 8) ? of_blocks(1) : std::nullopt;
    case kMsAdpcm: return of_blocks((align - 7 * channels) * 2 / channels + 2);
    case kImaAdpcm: return bits == 4 ? of_blocks((align - 4 * channels) * 2 / channels + 1) : std::nullopt;
    case kGsm: return align == 65 ? of_blocks(320) : std::nullopt;
    default: return {};
  }
}

/// WAV, RF64 and W64 share the WAVE format chunk.
std::optional<Seconds> wave_length(Peek& peek, const AudioHeader& header, const Chunks& chunks) {
  constexpr std::size_t kShortest = 16, kExtensible = 26;
  const auto format = find_format(peek, chunks);
  if (!format) return {};
  std::string_view facts = peek.at(*format, kExtensible);
  if (facts.empty()) facts = peek.at(*format, kShortest);
  if (facts.empty()) return {};
  const auto rate = static_cast<double>(number(facts.substr(4, 4), false));
  const auto frames = wave_frames(facts, header.present_bytes);
  return frames && rate > 0 ? std::optional(Seconds(*frames / rate)) : std::nullopt;
}

/// An 80-bit float, as AIFF keeps its rate.
double extended(std::string_view bytes) {
  const auto exponent = static_cast<int>(number(bytes.substr(0, 2), true) & 0x7fff);
  return std::ldexp(static_cast<double>(number(bytes.substr(2, 8), true)), exponent - 16383 - 63);
}

/// Bytes of a sample by AIFC's name of its form; 0: not plain samples. Numbers of frames in headers of packed forms
/// count packets or samples, whatever their writer took them for.
std::int64_t aiff_sample_bytes(std::string_view form, std::int64_t bits) {
  for (const std::string_view plain : {"", "NONE", "twos", "sowt", "in24", "in32", "23ni", "raw "})
    if (form == plain) return (bits + 7) / 8;
  for (const std::string_view real : {"fl32", "FL32"})
    if (form == real) return 4;
  for (const std::string_view real : {"fl64", "FL64"})
    if (form == real) return 8;
  for (const std::string_view law : {"alaw", "ALAW", "ulaw", "ULAW"})
    if (form == law) return 1;
  return 0;
}

std::optional<Seconds> aiff_length(ByteSource& bytes, Peek& peek, const AudioHeader& header) {
  const auto common = find_format(peek, {12, 4, 4, true, false, 2, "COMM"});
  if (!common) return {};
  const bool is_packed = Peek(bytes).at(8, 4) == "AIFC";
  const std::string facts(peek.at(*common, is_packed ? 22 : 18));
  if (facts.empty()) return {};
  const std::string_view view = facts;
  const double rate = extended(view.substr(8, 10));
  const auto channels = static_cast<std::int64_t>(number(view.substr(0, 2), true));
  const auto bits = static_cast<std::int64_t>(number(view.substr(6, 2), true));
  const std::int64_t sample = aiff_sample_bytes(is_packed ? view.substr(18, 4) : "", bits);
  return of_bytes(header.present_bytes, rate * static_cast<double>(channels * sample));
}

std::optional<Seconds> caf_length(Peek& peek, const AudioHeader& header) {
  const auto description = find_format(peek, {8, 4, 8, true, false, 1, "desc"});
  if (!description) return {};
  const auto rate = peek.at(*description, 8);
  const double frames_per_second = rate.empty() ? 0 : std::bit_cast<double>(number(rate, true));
  const auto packets = peek.at(*description + 16, 8);
  if (packets.empty()) return {};
  const auto bytes = static_cast<double>(number(packets.substr(0, 4), true));
  const auto frames = static_cast<double>(number(packets.substr(4, 4), true));
  return frames > 0 ? of_bytes(header.present_bytes, frames_per_second * bytes / frames) : std::nullopt;
}

std::optional<Seconds> au_length(Peek& peek, const AudioHeader& header) {
  const auto facts = peek.at(12, 12);
  if (facts.empty()) return {};
  constexpr int kSampleBytes[] = {0, 1, 1, 2, 3, 4, 4, 8};  // by encoding; 27 is A-law
  const auto encoding = number(facts.substr(0, 4), true);
  const int sample = encoding == 27 ? 1 : encoding < 8 ? kSampleBytes[encoding] : 0;
  return of_bytes(header.present_bytes, static_cast<double>(number(facts.substr(4, 4), true)) * sample *
                                            static_cast<double>(number(facts.substr(8, 4), true)));
}

}  // namespace

std::optional<Seconds> chunked_length(ByteSource& bytes) {
  const auto header = read_audio_header(bytes);
  if (!header) return {};
  Peek peek(bytes);
  switch (header->container) {
    case Container::wav:
    case Container::rf64: return wave_length(peek, *header, {12, 4, 4, false, false, 2, "fmt "});
    case Container::w64: return wave_length(peek, *header, {40, 16, 8, false, true, 8, "fmt "});
    case Container::aiff: return aiff_length(bytes, peek, *header);
    case Container::caf: return caf_length(peek, *header);
    case Container::au: return au_length(peek, *header);
    case Container::flac: return flac_length(bytes, *header);
  }
  return {};
}

}  // namespace tutti
