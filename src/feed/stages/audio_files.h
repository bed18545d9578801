#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "audio/byte_source.h"
#include "audio/clip/clip.h"
#include "audio/recording.h"
#include "base/error.h"
#include "base/guarded.h"
#include "base/owned.h"
#include "base/units.h"
#include "feed/source/dataset.h"

namespace tutti {

/// A file that is read where it is stored.
struct OpenAudio {
  OwnedFd file{};
  FileBytes bytes;
};
Result<OpenAudio> open_audio(const std::filesystem::path& path);

// Below, `member` is the part of the file that is the recording, as of a tar; none: all of it.

/// The bytes of the recording. `audio` outlives them.
PartBytes bytes_of(OpenAudio& audio, const std::optional<FileRange>& member);

/// Whether so many of it as wait between the stages would be too much for memory: hours of audio, of which a sample is
/// a part.
bool is_large(const std::filesystem::path& path, const std::optional<FileRange>& member = {});

/// Seconds of audio in the file, by its header. Where that does not state it (AAC without a container), a guess of no
/// more than the window: the row's real length is what counts in the end.
Result<double> seconds_of(const std::filesystem::path& path, Seconds window,
                          const std::optional<FileRange>& member = {});

/// The whole recording.
Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path,
                                          const std::optional<FileRange>& member = {});

/// Formats that libsndfile does not know go through decoding children. Called by several threads at once.
class ChildDecoder {
 public:
  /// The whole file through a child, then the part of it. Fault::missing: the file, what decodes it, or a folder
  /// (TMPDIR) for what that writes. A child that something else has killed, or that its disk has kept waiting, is no
  /// evidence about the file: it is decoded again while no other child of ours is at work, and what that one comes to
  /// is the answer. Others are not begun before that.
  Result<NativeClip> decode(const std::filesystem::path& path, const ClipRange& range,
                            const std::optional<FileRange>& member = {}) const;
  /// The whole file on disk, for one that is too long for memory. Errors as above.
  Result<Recording> recording(const std::filesystem::path& path) const;

 private:
  /// Children of one decoder. One that is tried again is at work alone: several may have taken each other's memory.
  struct Children {
    int begun = 0;
    int again = 0;  ///< children tried again or waiting for it, a part of `begun`: new ones wait for them
    bool has_one_alone = false;
  };
  class ChildSlot;
  Result<Recording> decoded(const std::filesystem::path& path) const;

  mutable Guarded<Children> children_{};
};

}  // namespace tutti
