#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audio/byte_source.h"
#include "base/units.h"

namespace tutti {

enum class Container { wav, aiff, rf64, w64, caf, au, flac };

/// What the first bytes of a simple file say, read independently of any library, so that a library that quietly repairs
/// a header cannot hide what is missing.
struct AudioHeader {
  Container container = Container::wav;
  std::int64_t claimed_bytes = 0;    // size of encoded samples; for a stream of unknown length: what there is. Not FLAC
  std::int64_t present_bytes = 0;    // part of `claimed_bytes` that is in the file
  std::int64_t samples_at = 0;       // where they begin. Not FLAC
  bool is_unsized = false;           // the header does not say how many there are, as of a stream. Not FLAC
  std::int64_t unclaimed_bytes = 0;  // WAV and AIFF: behind the samples, and in no chunk
  std::int64_t further_bytes = 0;    // WAV and AIFF: of samples in further chunks, which no decoder reads
  std::int64_t frames = 0;           // FLAC: total samples of a channel; 0: unknown
};

/// The offset of a FLAC file's sample count: 36 bits, the low four of the first byte and the next four.
inline constexpr std::int64_t kFlacTotalOffset = 21;

/// None for any other kind of file.
std::optional<AudioHeader> read_audio_header(ByteSource& bytes);

/// That a file goes on behind its samples with more of them, as a sentence; none where it does not. Its recorder was
/// stopped before it could say how much there is, the 32 bits for that ran over at 4 GiB, or it began a second chunk.
/// `decoded`: how long the samples last that the header claims; 0: not known.
std::optional<std::string> unclaimed_rest(const AudioHeader& header, Seconds decoded = Seconds(0));

/// What is wrong with the end of a file, as a sentence, for containers that mark their end while FFmpeg does not check
/// it (Ogg, AVI, ASF, FLV). None for a whole file and for every other kind.
std::optional<std::string> broken_ending(ByteSource& bytes);

}  // namespace tutti
