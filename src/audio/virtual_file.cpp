#include "audio/virtual_file.h"

#include <algorithm>
#include <array>

#include "audio/audio_header.h"

namespace tutti {

sf_count_t VirtualFile::seek(sf_count_t offset, int whence, void* self) {
  VirtualFile& it = file(self);
  if (whence == SEEK_CUR) offset += it.offset_;
  if (whence == SEEK_END) offset += it.bytes_.size();
  return it.offset_ = std::max<sf_count_t>(offset, 0);
}

sf_count_t VirtualFile::read(void* out, sf_count_t count, void* self) {
  VirtualFile& it = file(self);
  const std::span<std::byte> wanted(static_cast<std::byte*>(out),
                                    static_cast<std::size_t>(std::max<sf_count_t>(count, 0)));
  std::size_t done = 0;
  while (done < wanted.size()) {
    const auto got = it.bytes_.read_at(it.offset_ + static_cast<sf_count_t>(done), wanted.subspan(done));
    if (!got) it.unreadable_ = true;
    if (!got || *got == 0) break;
    done += *got;
  }
  it.lift_flac_total(wanted.first(done));
  it.offset_ += static_cast<sf_count_t>(done);
  return static_cast<sf_count_t>(done);
}

/// libsndfile stops at the total that a FLAC header claims, even where more audio follows. Shown the largest total
/// instead, it reads to the end, and the claim is checked by us.
void VirtualFile::lift_flac_total(std::span<std::byte> bytes) const {
  if (!open_ended_flac_) return;
  constexpr std::array<unsigned char, 5> kMost{0x0f, 0xff, 0xff, 0xff, 0xff};
  for (std::size_t i = 0; i < kMost.size(); ++i) {
    const sf_count_t at = kFlacTotalOffset + static_cast<sf_count_t>(i) - offset_;
    if (at >= 0 && at < static_cast<sf_count_t>(bytes.size()))
      bytes[static_cast<std::size_t>(at)] |= std::byte{kMost[i]};
  }
}

}  // namespace tutti
