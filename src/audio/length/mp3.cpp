#include <algorithm>
#include <array>
#include <cmath>

#include "audio/length/sound_length.h"
#include "audio/mpeg_frame.h"

namespace tutti {
namespace {

/// Whether the same bits a second are found all over [begin, end), as far as to its last frames.
bool has_one_rate(ByteSource& bytes, std::int64_t begin, std::int64_t end, const MpegFrame& like) {
  constexpr std::int64_t kPlaces = 16, kFromEnd = 4096;
  std::array<char, 8192> block{};  // read at once: single bytes would cost a system call each
  for (std::int64_t place = 1; place <= kPlaces; ++place) {
    std::int64_t at = begin + (end - begin) / kPlaces * place;
    at = std::max(begin, std::min(at, end - kFromEnd));
    std::int64_t found = 0;
    const auto got = bytes.read_at(at, std::as_writable_bytes(std::span(block)));
    MemoryBytes part(std::as_bytes(std::span(block)).first(got.value_or(0)));
    Peek peek(part);
    const auto frame = first_mpeg_frames(peek, 0, found);
    if (!frame || frame->kilobits != like.kilobits || frame->rate != like.rate) return false;
  }
  return true;
}

std::int64_t before_tag(Peek& peek, std::int64_t end) {
  constexpr std::int64_t kTag = 128;
  return peek.at(end - kTag, 3) == "TAG" ? end - kTag : end;
}

}  // namespace

std::optional<Seconds> mp3_length(ByteSource& bytes) {
  constexpr double kRounding = 0.02;  // of the file: tags at its end
  Peek peek(bytes);
  std::int64_t at = 0;
  const auto second = first_mpeg_frames(peek, behind_id3(peek, 0), at);
  const auto first = second ? mpeg_frame_at(peek, at) : std::nullopt;
  if (!first) return {};
  const std::int64_t end = before_tag(peek, bytes.size());
  const auto size = static_cast<double>(end - at);
  const auto counted = encoder_count(peek, at, *first);
  // Where the sizes do not agree, the file was cut or joined since.
  if (counted && counted->bytes > 0 &&
      std::abs(size - static_cast<double>(counted->bytes)) <= std::max(4096.0, size * kRounding))
    return Seconds(static_cast<double>(counted->frames) * first->samples / first->rate);
  const std::int64_t begin = counted ? at + first->size : at;  // that frame is no sound
  if (!has_one_rate(bytes, begin, end, *second)) return {};
  return Seconds(static_cast<double>(end - begin) * 8 / (second->kilobits * 1000.0));
}

}  // namespace tutti
