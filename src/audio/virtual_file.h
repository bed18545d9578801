#pragma once

#include <sndfile.h>

#include <span>

#include "audio/byte_source.h"

namespace tutti {

/// libsndfile's view of a ByteSource, which must outlive it: `sf_open_virtual(&calls, SFM_READ, &info, &file)` with
/// `SF_VIRTUAL_IO calls = VirtualFile::calls()`. One thread.
class VirtualFile {
 public:
  /// `open_ended_flac`: the total of samples that a FLAC header claims is shown as the largest there can be.
  explicit VirtualFile(ByteSource& bytes, bool open_ended_flac = false)
      : bytes_(bytes), open_ended_flac_(open_ended_flac) {}
  VirtualFile(const VirtualFile&) = delete;
  VirtualFile& operator=(const VirtualFile&) = delete;

  static SF_VIRTUAL_IO calls() { return {length, seek, read, write, tell}; }
  /// Whether reading the source has failed, which libsndfile takes for its end.
  bool unreadable() const { return unreadable_; }

 private:
  static VirtualFile& file(void* self) { return *static_cast<VirtualFile*>(self); }
  static sf_count_t length(void* self) { return file(self).bytes_.size(); }
  static sf_count_t tell(void* self) { return file(self).offset_; }
  static sf_count_t write(const void*, sf_count_t, void*) { return 0; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self);
  static sf_count_t read(void* out, sf_count_t count, void* self);
  void lift_flac_total(std::span<std::byte> bytes) const;

  ByteSource& bytes_;
  bool open_ended_flac_;
  sf_count_t offset_ = 0;
  bool unreadable_ = false;
};

}  // namespace tutti
