#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "audio/length/sound_length.h"

namespace tutti {
namespace {

/// What four bytes before a frame of MPEG audio say (ISO 11172-3 and 13818-3).
struct Frame {
  int version = 0;  // 1, 2, or 25 for the inofficial 2.5
  int layer = 0;
  int kilobits = 0;
  int rate = 0;
  bool mono = false;
  std::int64_t size = 0;  // bytes
  int samples = 0;
};

constexpr std::array<std::array<int, 15>, 5> kKilobits{{
    {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // 1, layer I
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // 1, layer II
    {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // 1, layer III
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // 2, layer I
    {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},          // 2, layers II and III
}};

std::optional<Frame> frame_at(Peek& peek, std::int64_t at) {
  const auto head = peek.at(at, 4);
  if (head.empty()) return {};
  const auto bits = number(head, true);
  const auto field = [&](int shift, unsigned mask) { return static_cast<std::size_t>(bits >> shift & mask); };
  const std::size_t version = field(19, 3), layer = field(17, 3), bitrate = field(12, 15), rate = field(10, 3);
  if (field(21, 0x7ff) != 0x7ff || version == 1 || layer == 0 || bitrate == 0 || bitrate == 15 || rate == 3) return {};
  Frame frame;
  frame.version = version == 3 ? 1 : version == 2 ? 2 : 25;
  frame.layer = 4 - static_cast<int>(layer);
  const bool first = frame.version == 1;
  const int table = first ? frame.layer - 1 : frame.layer == 1 ? 3 : 4;
  frame.kilobits = kKilobits[static_cast<std::size_t>(table)][bitrate];
  constexpr int kRates[] = {44100, 48000, 32000};
  frame.rate = kRates[rate] / (first ? 1 : frame.version == 2 ? 2 : 4);
  frame.mono = field(6, 3) == 3;
  frame.samples = frame.layer == 1 ? 384 : frame.layer == 3 && !first ? 576 : 1152;
  const int slot = frame.layer == 1 ? 4 : 1;
  frame.size = (frame.samples / 8 * frame.kilobits * 1000 / frame.rate / slot + static_cast<int>(field(9, 1))) * slot;
  return frame;
}

/// What encoders write into the first frame, in one of two ways.
struct EncoderCount {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;  // of the whole stream; 0: not known
};

std::optional<EncoderCount> encoder_count(Peek& peek, std::int64_t at, const Frame& frame) {
  const bool first = frame.version == 1;
  const std::int64_t xing = at + 4 + (first ? (frame.mono ? 17 : 32) : (frame.mono ? 9 : 17));
  const std::string head(peek.at(xing, 16));
  const std::string_view view = head;
  if ((view.starts_with("Xing") || view.starts_with("Info")) && (head[7] & 1) != 0)
    return EncoderCount{number(view.substr(8, 4), true), (head[7] & 2) != 0 ? number(view.substr(12, 4), true) : 0};
  const auto vbri = peek.at(at + 36, 18);
  if (vbri.starts_with("VBRI")) return EncoderCount{number(vbri.substr(14, 4), true), number(vbri.substr(10, 4), true)};
  return {};
}

/// The first two frames in a row in [from, from + 4096): the second of them.
std::optional<Frame> frame_from(Peek& peek, std::int64_t from, std::int64_t& at) {
  constexpr std::int64_t kSearched = 4096;  // padding between tag and first frame
  for (at = from; at < from + kSearched; ++at) {
    const auto frame = frame_at(peek, at);
    const auto next = frame ? frame_at(peek, at + frame->size) : std::nullopt;
    if (next && next->rate == frame->rate && next->layer == frame->layer) return next;  // else chance
  }
  return {};
}

/// Whether the same bits a second are found all over [begin, end), as far as to its last frames.
bool has_one_rate(Peek& peek, std::int64_t begin, std::int64_t end, const Frame& like) {
  constexpr std::int64_t kPlaces = 16, kFromEnd = 4096;
  for (std::int64_t place = 1; place <= kPlaces; ++place) {
    std::int64_t at = begin + (end - begin) / kPlaces * place;
    at = std::max(begin, std::min(at, end - kFromEnd));
    std::int64_t found = 0;
    const auto frame = frame_from(peek, at, found);
    if (!frame || frame->kilobits != like.kilobits || frame->rate != like.rate) return false;
  }
  return true;
}

std::int64_t before_tag(Peek& peek, std::int64_t end) {
  constexpr std::int64_t kTag = 128;
  return peek.at(end - kTag, 3) == "TAG" ? end - kTag : end;
}

/// Where the first frame may be: after an ID3v2 tag.
std::int64_t after_tag(Peek& peek) {
  const auto tag = peek.at(0, 10);
  if (!tag.starts_with("ID3")) return 0;
  std::int64_t size = 0;
  for (const char c : tag.substr(6, 4)) size = size << 7 | (c & 0x7f);
  return 10 + size + ((tag[5] & 0x10) != 0 ? 10 : 0);
}

}  // namespace

std::optional<Seconds> mp3_length(ByteSource& bytes) {
  constexpr double kRounding = 0.02;  // of the file: tags at its end
  Peek peek(bytes);
  std::int64_t at = 0;
  const auto second = frame_from(peek, after_tag(peek), at);
  const auto first = second ? frame_at(peek, at) : std::nullopt;
  if (!first) return {};
  const std::int64_t end = before_tag(peek, bytes.size());
  const auto size = static_cast<double>(end - at);
  const auto counted = encoder_count(peek, at, *first);
  // Where the sizes do not agree, the file was cut or joined since.
  if (counted && counted->bytes > 0 &&
      std::abs(size - static_cast<double>(counted->bytes)) <= std::max(4096.0, size * kRounding))
    return Seconds(static_cast<double>(counted->frames) * first->samples / first->rate);
  const std::int64_t begin = counted ? at + first->size : at;  // that frame is no sound
  if (!has_one_rate(peek, begin, end, *second)) return {};
  return Seconds(static_cast<double>(end - begin) * 8 / (second->kilobits * 1000.0));
}

}  // namespace tutti
