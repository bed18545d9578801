#pragma once

#include <cstdint>

#include "audio/byte_source.h"

namespace tutti {

/// The first of the recordings that stand behind one another in a file, as `cat` and some recorders put them there.
struct FirstRecording {
  std::int64_t end = 0;   // end of what decoders should see
  std::int64_t next = 0;  // where another begins; the file's size where none does
};

/// Tags and zeros between recordings are the first one's, but for WavPack, where FFmpeg takes tags for damage. Files
/// whose header does not say how long they are have to be searched from start to end; with `may_search` false they
/// count as one.
FirstRecording first_recording(ByteSource& bytes, bool may_search = true);

}  // namespace tutti
