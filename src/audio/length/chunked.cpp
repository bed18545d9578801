#include <bit>
#include <cmath>

#include "audio/length/sound_length.h"
#include "audio/sound_header.h"

namespace tutti {
namespace {

/// Where the chunks of a container lie and which of them says how many bytes a second takes.
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

/// The WAVE format chunk says its own average; WAV, RF64 and W64 share it.
std::optional<Seconds> wave_length(Peek& peek, const SoundHeader& header, const Chunks& chunks) {
  const auto format = find_format(peek, chunks);
  if (!format) return {};
  const auto rate = peek.at(*format + 8, 4);
  return rate.empty() ? std::nullopt : of_bytes(header.present_bytes, static_cast<double>(number(rate, false)));
}

/// An 80-bit float, as AIFF keeps its rate.
double extended(std::string_view bytes) {
  const auto exponent = static_cast<int>(number(bytes.substr(0, 2), true) & 0x7fff);
  return std::ldexp(static_cast<double>(number(bytes.substr(2, 8), true)), exponent - 16383 - 63);
}

std::optional<Seconds> aiff_length(Peek& peek) {
  const auto common = find_format(peek, {12, 4, 4, true, false, 2, "COMM"});
  if (!common) return {};
  const auto facts = peek.at(*common, 18);
  if (facts.empty()) return {};
  const double rate = extended(facts.substr(8, 10));
  if (!(rate > 0)) return {};
  return Seconds(static_cast<double>(number(facts.substr(2, 4), true)) / rate);
}

std::optional<Seconds> caf_length(Peek& peek, const SoundHeader& header) {
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

std::optional<Seconds> au_length(Peek& peek, const SoundHeader& header) {
  const auto facts = peek.at(12, 12);
  if (facts.empty()) return {};
  constexpr int kSampleBytes[] = {0, 1, 1, 2, 3, 4, 4, 8};  // by encoding; 27 is A-law
  const auto encoding = number(facts.substr(0, 4), true);
  const int sample = encoding == 27 ? 1 : encoding < 8 ? kSampleBytes[encoding] : 0;
  return of_bytes(header.present_bytes, static_cast<double>(number(facts.substr(4, 4), true)) * sample *
                                            static_cast<double>(number(facts.substr(8, 4), true)));
}

std::optional<Seconds> flac_length(Peek& peek, const SoundHeader& header) {
  const auto rate = peek.at(18, 3);  // 20 bits
  if (rate.empty() || header.frames == 0 || number(rate, true) >> 4 == 0) return {};
  return Seconds(static_cast<double>(header.frames) / static_cast<double>(number(rate, true) >> 4));
}

}  // namespace

std::optional<Seconds> chunked_length(ByteSource& bytes) {
  const auto header = read_sound_header(bytes);
  if (!header) return {};
  Peek peek(bytes);
  switch (header->container) {
    case Container::wav:
    case Container::rf64: return wave_length(peek, *header, {12, 4, 4, false, false, 2, "fmt "});
    case Container::w64: return wave_length(peek, *header, {40, 16, 8, false, true, 8, "fmt "});
    case Container::aiff: return aiff_length(peek);
    case Container::caf: return caf_length(peek, *header);
    case Container::au: return au_length(peek, *header);
    case Container::flac: return flac_length(peek, *header);
  }
  return {};
}

}  // namespace tutti
