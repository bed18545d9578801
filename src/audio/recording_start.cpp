#include "audio/recording_start.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "audio/mpeg_frame.h"

namespace tutti {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kSeen = 64;  // bytes that tell a recording's start from chance

bool is_printed(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool begins_in_chunks(std::string_view head) {
  const auto form = head.substr(8, 4);
  if (head.starts_with("caff\0\x01"sv)) return head.substr(8, 4) == "desc";
  if (!is_printed(head.substr(12, 4))) return false;
  if (head.starts_with("RIFF")) return form == "WAVE" || form == "AVI ";
  if (head.starts_with("RF64") || head.starts_with("BW64")) return form == "WAVE";
  return head.starts_with("FORM") && (form == "AIFF" || form == "AIFC");
}

bool begins_tta(std::string_view head) {
  return head.starts_with("TTA1") && number(head.substr(4, 2), false) <= 2 && number(head.substr(6, 2), false) <= 32 &&
         number(head.substr(8, 2), false) <= 32 && number(head.substr(10, 4), false) <= 1'000'000;
}

/// The first block of a recording counts its samples from zero.
bool begins_wavpack(std::string_view head) {
  constexpr std::uint64_t kInitial = 1 << 11;
  return head.starts_with("wvpk") && head[9] == 4 && (number(head.substr(24, 4), false) & kInitial) != 0 &&
         number(head.substr(20, 4), false) != 0 && number(head.substr(16, 4), false) == 0;
}

bool begins_mp4(std::string_view head) {
  const auto size = number(head.substr(0, 4), true);
  return head.substr(4, 4) == "ftyp" && size >= 16 && size <= 512 && size % 4 == 0 && is_printed(head.substr(8, 4));
}

bool begins_au(std::string_view head) {
  const auto number_at = [&](std::size_t at) { return number(head.substr(at, 4), true); };
  return head.starts_with(".snd\0\0"sv) && number_at(4) >= 24 && number_at(12) <= 32 && number_at(16) <= 1'000'000 &&
         number_at(20) <= 64;
}

bool begins_ogg(std::string_view head) {
  return head.starts_with("OggS\0\x02\0\0\0\0\0\0\0\0"sv) && number(head.substr(18, 4), false) == 0;
}

bool begins(std::string_view head) {
  for (const std::string_view magic :
       {"riff\x2e\x91\xcf\x11"sv, "fLaC\x00\x00\x00\x22"sv, "fLaC\x80\x00\x00\x22"sv, "#!AMR\n"sv, "#!AMR-WB\n"sv,
        "#!AMR_MC1.0\n"sv, "#!AMR-WB_MC1.0\n"sv, "Creative Voice File\x1a"sv, "nut/multimedia container\0"sv,
        "\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c"sv})
    if (head.starts_with(magic)) return true;
  if (head.starts_with("\x1a\x45\xdf\xa3"sv))
    return head.find("matroska") != head.npos || head.find("webm") != head.npos;
  if (head.starts_with("FLV\x01"sv)) return (head[4] & ~5) == 0 && number(head.substr(5, 4), true) == 9;
  if (head.starts_with("MAC ")) return number(head.substr(4, 2), false) / 100 == 39;  // files of versions 3.9x
  return begins_in_chunks(head) || begins_tta(head) || begins_wavpack(head) || begins_mp4(head) || begins_au(head) ||
         begins_ogg(head);
}

/// Bytes that a recording may begin with. MP4's first is zero, as many are: its second word is looked at.
bool may_begin(const char* at) {
  constexpr std::string_view kFirst = "RBFrcf#CnT.wOM\x30\x1a";
  return *at == 0 ? at[4] == 'f' : kFirst.find(*at) != kFirst.npos;
}

std::string head_at(ByteSource& bytes, std::int64_t at) {
  std::string head(kSeen, '\0');
  const auto got =
      at < bytes.size() ? bytes.read_at(at, std::as_writable_bytes(std::span(head))) : Result<std::size_t>(0);
  if (got.value_or(0) < 16) head.assign(kSeen, '\0');
  return head;
}

/// Behind the zeros from `at` on.
std::int64_t behind_zeros(ByteSource& bytes, std::int64_t at) {
  std::array<char, 4096> block{};
  while (at < bytes.size()) {
    const auto got = bytes.read_at(at, std::as_writable_bytes(std::span(block)));
    if (!got || *got == 0) break;
    const std::string_view all(block.data(), *got);
    const auto other = all.find_first_not_of('\0');
    if (other != all.npos) return at + static_cast<std::int64_t>(other);
    at += static_cast<std::int64_t>(*got);
  }
  return at;
}

std::int64_t behind_tag(ByteSource& bytes, std::int64_t at) {
  constexpr std::int64_t kId3v1 = 128, kApeHead = 32;
  Peek peek(bytes);
  if (peek.at(at, 8) == "APETAGEX") {
    const std::string ape(peek.at(at, kApeHead));
    if (ape.empty()) return at;
    const auto size = static_cast<std::int64_t>(number(std::string_view(ape).substr(12, 4), false));
    const bool is_header = (number(std::string_view(ape).substr(20, 4), false) & (1U << 29)) != 0;
    return at + kApeHead + (is_header ? size : 0);
  }
  if (peek.at(at, 3) == "TAG" && at + kId3v1 <= bytes.size()) return at + kId3v1;
  return behind_id3(peek, at);
}

}  // namespace

Result<std::size_t> BlockBytes::read_at(std::int64_t offset, std::span<std::byte> out) {
  if (out.size() > block_.size() / 4) return whole_.read_at(offset, out);
  const auto is_held = [&] {
    return offset >= begin_ && offset + std::ssize(out) <= begin_ + static_cast<std::int64_t>(held_);
  };
  if (!is_held()) {
    const auto got = whole_.read_at(offset, block_);
    if (!got) return got;
    begin_ = offset;
    held_ = *got;
  }
  const auto count = std::min(out.size(), held_ - static_cast<std::size_t>(offset - begin_));
  std::copy_n(block_.begin() + (offset - begin_), count, out.begin());
  return count;
}

bool recording_begins(ByteSource& bytes, std::int64_t at) {
  if (begins(head_at(bytes, at))) return true;
  BlockBytes blocks(bytes);
  Peek peek(blocks);
  return mpeg_frames_begin(peek, behind_id3(peek, at));
}

std::int64_t find_recording(ByteSource& bytes, std::int64_t from) {
  constexpr std::size_t kBlock = 1 << 20;
  std::vector<char> block(kBlock + kSeen);
  for (std::int64_t at = from; at < bytes.size(); at += kBlock) {
    const auto got = bytes.read_at(at, std::as_writable_bytes(std::span(block)));
    if (!got || *got == 0) break;
    std::fill(block.begin() + static_cast<std::ptrdiff_t>(*got), block.end(), '\0');
    const std::size_t starts = std::min(*got, kBlock);
    for (std::size_t i = 0; i < starts; ++i)
      if (may_begin(block.data() + i) && begins({block.data() + i, kSeen})) return at + static_cast<std::int64_t>(i);
  }
  return bytes.size();
}

std::int64_t behind_tags(ByteSource& bytes, std::int64_t at) {
  for (;;) {
    const std::int64_t zeros = behind_zeros(bytes, at);
    // The first number of MP4 and the chance of a chunk's padding: a recording may begin with zeros.
    for (std::int64_t back = 0; back <= 3; ++back)
      if (zeros - back >= at && recording_begins(bytes, zeros - back)) return zeros - back;
    const std::int64_t next = behind_tag(bytes, zeros);
    if (next == zeros) return zeros;
    at = next;
  }
}

}  // namespace tutti
