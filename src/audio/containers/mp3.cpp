#include "audio/containers/mp3.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "audio/containers/audio_length.h"
#include "audio/mpeg_frame.h"
#include "audio/recording_start.h"

namespace tutti {
namespace {

/// Whether the same bits a second are found all over [begin, end), as far as to its last frames.
bool has_one_rate(ByteSource& bytes, std::int64_t begin, std::int64_t end, const MpegFrame& like) {
  constexpr std::int64_t kPositions = 16, kFromEnd = 4096;
  std::array<char, 8192> block{};  // read at once: single bytes would cost a system call each
  for (std::int64_t position = 1; position <= kPositions; ++position) {
    std::int64_t at = begin + (end - begin) / kPositions * position;
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

/// Where the frames are, and what the encoder counted of them.
struct Mp3 {
  std::int64_t begin = 0, end = 0;
  MpegFrame first, second;
  std::optional<EncoderCount> count{};

  std::int64_t first_audio() const { return count ? begin + first.size : begin; }  // the encoder's frame is none
  Seconds counted() const { return Seconds(static_cast<double>(count->frames) * first.samples / first.rate); }
  /// By what frames here and there last.
  bool counts_well(ByteSource& bytes) const;
  /// Else the file was cut or joined since.
  bool is_whole() const {
    constexpr double kRounding = 0.02;  // share of the file that tags at its end may take
    const auto size = static_cast<double>(end - begin);
    return count && count->bytes > 0 &&
           std::abs(size - static_cast<double>(count->bytes)) <= std::max(4096.0, size * kRounding);
  }
};

std::optional<Mp3> read_mp3(ByteSource& file) {
  BlockBytes bytes(file);
  Peek peek(bytes);
  Mp3 mp3;
  const auto second = first_mpeg_frames(peek, behind_id3(peek, 0), mp3.begin);
  const auto first = second ? mpeg_frame_at(peek, mp3.begin) : std::nullopt;
  if (!first) return {};
  mp3.first = *first;
  mp3.second = *second;
  mp3.end = before_tag(peek, bytes.size());
  mp3.count = encoder_count(peek, mp3.begin, *first);
  return mp3;
}

/// Seconds in a byte, by frames all over [begin, end).
std::optional<double> seconds_in_byte(ByteSource& bytes, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kSamples = 16;
  std::array<char, 8192> block{};
  double seconds = 0;
  std::int64_t size = 0;
  for (std::int64_t sample = 0; sample < kSamples; ++sample) {
    const auto got = bytes.read_at(begin + (end - begin) / kSamples * sample, std::as_writable_bytes(std::span(block)));
    MemoryBytes part(std::as_bytes(std::span(block)).first(got.value_or(0)));
    Peek peek(part);
    std::int64_t at = 0;
    if (!first_mpeg_frames(peek, 0, at)) continue;
    for (auto frame = mpeg_frame_at(peek, at); frame; frame = mpeg_frame_at(peek, at)) {
      seconds += static_cast<double>(frame->samples) / frame->rate;
      size += frame->size;
      at += frame->size;
    }
  }
  return size > 0 ? std::optional(seconds / static_cast<double>(size)) : std::nullopt;
}

bool Mp3::counts_well(ByteSource& bytes) const {
  constexpr double kAlike = 0.25;
  const auto each = seconds_in_byte(bytes, first_audio(), end);
  const double seen = each.value_or(0) * static_cast<double>(end - first_audio());
  return std::abs(counted().count() - seen) <= kAlike * seen;
}

}  // namespace

bool mp3_counts_wrong(ByteSource& bytes) {
  const auto mp3 = read_mp3(bytes);
  return mp3 && mp3->is_whole() && !mp3->counts_well(bytes);
}

bool mp3_is_whole(ByteSource& bytes) {
  const auto mp3 = read_mp3(bytes);
  return mp3 && mp3->is_whole();
}

std::optional<Seconds> mp3_length(ByteSource& bytes) {
  const auto mp3 = read_mp3(bytes);
  if (!mp3) return {};
  if (mp3->is_whole() && mp3->counts_well(bytes)) return mp3->counted();
  const std::int64_t begin = mp3->first_audio();
  const auto size = static_cast<double>(mp3->end - begin);
  if (!has_one_rate(bytes, begin, mp3->end, mp3->second)) return {};
  return Seconds(size * 8 / (mp3->second.kilobits * 1000.0));
}

}  // namespace tutti
