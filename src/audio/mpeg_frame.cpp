#include "audio/mpeg_frame.h"

#include <array>
#include <string>
#include <string_view>

namespace tutti {
namespace {

constexpr std::array<std::array<int, 15>, 5> kKilobits{{
    {0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},  // 1, layer I
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},     // 1, layer II
    {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},      // 1, layer III
    {0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},     // 2, layer I
    {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},          // 2, layers II and III
}};

}  // namespace

std::optional<MpegFrame> mpeg_frame_at(Peek& peek, std::int64_t at) {
  const auto head = peek.at(at, 4);
  if (head.empty()) return {};
  const auto bits = number(head, true);
  const auto field = [&](int shift, unsigned mask) { return static_cast<std::size_t>(bits >> shift & mask); };
  const std::size_t version = field(19, 3), layer = field(17, 3), bitrate = field(12, 15), rate = field(10, 3);
  if (field(21, 0x7ff) != 0x7ff || version == 1 || layer == 0 || bitrate == 0 || bitrate == 15 || rate == 3) return {};
  MpegFrame frame;
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

std::optional<MpegFrame> first_mpeg_frames(Peek& peek, std::int64_t from, std::int64_t& at) {
  constexpr std::int64_t kSearched = 4096;  // padding between tag and first frame
  for (at = from; at < from + kSearched; ++at) {
    const auto frame = mpeg_frame_at(peek, at);
    const auto next = frame ? mpeg_frame_at(peek, at + frame->size) : std::nullopt;
    if (next && next->rate == frame->rate && next->layer == frame->layer) return next;  // else chance
  }
  return {};
}

bool mpeg_frames_begin(Peek& peek, std::int64_t at) {
  constexpr int kEnough = 4;
  const auto first = mpeg_frame_at(peek, at);
  if (!first) return false;
  at += first->size;
  for (int count = 1; count < kEnough; ++count) {
    const auto next = mpeg_frame_at(peek, at);
    if (!next || next->version != first->version || next->layer != first->layer || next->rate != first->rate)
      return false;
    at += next->size;
  }
  return true;
}

std::optional<EncoderCount> encoder_count(Peek& peek, std::int64_t at, const MpegFrame& frame) {
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

std::int64_t behind_id3(Peek& peek, std::int64_t at) {
  const auto tag = peek.at(at, 10);
  if (!tag.starts_with("ID3")) return at;
  std::int64_t size = 0;
  for (const char c : tag.substr(6, 4)) size = size << 7 | (c & 0x7f);
  return at + 10 + size + ((tag[5] & 0x10) != 0 ? 10 : 0);
}

}  // namespace tutti
