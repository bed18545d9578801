#include "audio/vad/packing.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace tutti {
namespace {

std::int64_t length(const SpeechPiece& piece) {
  return piece.end - piece.start;
}

/// Where each piece ends when all follow each other.
std::vector<std::int64_t> packed_ends(std::span<const SpeechPiece> pieces) {
  std::vector<std::int64_t> ends;
  std::int64_t end = 0;
  for (const SpeechPiece& piece : pieces) ends.push_back(end += length(piece));
  return ends;
}

/// To 0.01 s as Python rounds: by the exact decimal value, which multiplying by 100 would lose.
Seconds rounded(Seconds time) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.begin(), text.end(), time.count(), std::chars_format::fixed, 2);
  double value = 0;
  std::from_chars(text.begin(), written.ptr, value);
  return Seconds(value);
}

}  // namespace

std::int64_t samples_of(std::span<const SpeechPiece> pieces) {
  std::int64_t samples = 0;
  for (const SpeechPiece& piece : pieces) samples += length(piece);
  return samples;
}

std::vector<PackedPieces> pack_windows(std::span<const SpeechPiece> pieces, std::int64_t max_samples) {
  std::vector<PackedPieces> windows;
  std::int64_t capacity = 0;
  const auto take = [&](const SpeechPiece& piece) {
    if (length(piece) > capacity) {
      windows.emplace_back();
      capacity = max_samples;
    }
    windows.back().push_back(piece);
    capacity -= length(piece);
  };
  for (SpeechPiece piece : pieces) {
    for (; length(piece) > max_samples; piece.start += max_samples)
      take({.start = piece.start, .end = piece.start + max_samples, .forced_cut = true});
    take(piece);
  }
  return windows;
}

SpeechMap::SpeechMap(std::span<const SpeechPiece> pieces) : ends_(packed_ends(pieces)) {
  std::int64_t packed = 0;
  for (const SpeechPiece& piece : pieces) {
    silence_before_.push_back(length_of(piece.start - packed, kModelRate));
    packed += length(piece);
  }
}

std::size_t SpeechMap::piece_at(Seconds packed) const {
  const auto after = std::upper_bound(ends_.begin(), ends_.end(), samples_in(packed, kModelRate));
  return static_cast<std::size_t>(std::min<std::ptrdiff_t>(after - ends_.begin(), std::ssize(ends_) - 1));
}

Seconds SpeechMap::original(Seconds packed, std::size_t piece) const {
  return rounded(silence_before_[piece] + packed);
}

Seconds SpeechMap::start(Seconds packed) const {
  return original(packed, piece_at(packed));
}

Seconds SpeechMap::end(Seconds packed) const {
  const auto exactly = std::lower_bound(ends_.begin(), ends_.end(), samples_in(packed, kModelRate));
  if (exactly == ends_.end() || *exactly != samples_in(packed, kModelRate)) return start(packed);
  return original(packed, static_cast<std::size_t>(exactly - ends_.begin()));
}

SpeechMap::Span SpeechMap::word(Seconds packed_start, Seconds packed_end) const {
  const std::size_t piece = piece_at((packed_start + packed_end) / 2);
  return {.start = original(packed_start, piece), .end = original(packed_end, piece)};
}

PackedRecording::PackedRecording(const SampleReader& recording, PackedPieces pieces)
    : recording_(recording), pieces_(std::move(pieces)), ends_(packed_ends(pieces_)) {}

std::int64_t PackedRecording::samples() const {
  return ends_.empty() ? 0 : ends_.back();
}

Result<void> PackedRecording::read(std::int64_t first, std::span<std::int16_t> out) const {
  std::fill(out.begin(), out.end(), std::int16_t{0});
  const std::int64_t end = first + std::ssize(out);
  auto at = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
  for (; at < pieces_.size(); ++at) {
    const std::int64_t begins = ends_[at] - length(pieces_[at]);
    if (begins >= end) break;
    const std::int64_t from = std::max(first, begins), to = std::min(end, ends_[at]);
    const auto part = out.subspan(static_cast<std::size_t>(from - first), static_cast<std::size_t>(to - from));
    if (auto read = recording_.read(pieces_[at].start + from - begins, part); !read) return read;
  }
  return {};
}

}  // namespace tutti
