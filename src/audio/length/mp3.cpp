#include <array>
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

/// The count of frames that encoders write into the first frame, in one of two ways.
std::optional<std::uint64_t> told_frames(Peek& peek, std::int64_t at, const Frame& frame) {
  const bool first = frame.version == 1;
  const std::int64_t xing = at + 4 + (first ? (frame.mono ? 17 : 32) : (frame.mono ? 9 : 17));
  const std::string xing_head(peek.at(xing, 12));
  if ((xing_head.starts_with("Xing") || xing_head.starts_with("Info")) && (xing_head[7] & 1) != 0)
    return number(std::string_view(xing_head).substr(8, 4), true);
  const auto vbri = peek.at(at + 36, 18);
  if (vbri.starts_with("VBRI")) return number(vbri.substr(14, 4), true);
  return {};
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
  constexpr std::int64_t kSearched = 4096;  // padding between tag and first frame
  Peek peek(bytes);
  const std::int64_t begin = after_tag(peek);
  for (std::int64_t at = begin; at < begin + kSearched; ++at) {
    const auto frame = frame_at(peek, at);
    if (!frame) continue;
    const auto next = frame_at(peek, at + frame->size);
    if (!next || next->rate != frame->rate || next->layer != frame->layer) continue;  // chance
    if (const auto frames = told_frames(peek, at, *frame))
      return Seconds(static_cast<double>(*frames) * frame->samples / frame->rate);
    return Seconds(static_cast<double>(bytes.size() - at) * 8 / (next->kilobits * 1000.0));  // as if all were like this
  }
  return {};
}

}  // namespace tutti
