#include "audio/containers/flac.h"

#include <algorithm>
#include <array>
#include <vector>

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
  std::int64_t block = block_code == 1 ? 192 : block_code < 6 ? 576 << (block_code - 2) : 256 << (block_code - 8);
  if (block_code == 6 || block_code == 7) {
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

}  // namespace

std::optional<Seconds> flac_length(ByteSource& bytes, const SoundHeader& header) {
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

}  // namespace tutti
