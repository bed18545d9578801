#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "audio/byte_source.h"
#include "audio/ffmpeg/api.h"
#include "audio/losses.h"
#include "base/units.h"

namespace tutti {

/// A stretch of decoded audio in the decoder's own sample format, as libswresample takes it. The memory stays the
/// source's and lasts until its next call.
struct AudioBlock {
  AVSampleFormat format = AV_SAMPLE_FMT_NONE;
  Hertz rate{};
  const AVChannelLayout* layout = nullptr;
  const std::uint8_t* const* planes = nullptr;  // one pointer per channel when planar, one in all when interleaved
  int frames = 0;
  Seconds silence{};  // that belongs before it: the file has no audio there
};

/// What the file's header promises.
struct AudioPromise {
  Seconds length{};
  Seconds tolerance{};  // how much less is no loss: encoders' padding, rounded time stamps
};

/// A file being decoded from its start to its end.
class AudioSource {
 public:
  virtual ~AudioSource() = default;
  /// The next stretch; false at the end. An error means that this decoder cannot go on.
  virtual Result<bool> next(AudioBlock& block) = 0;
  virtual std::optional<AudioPromise> promised() const = 0;
  /// Silence before the first audio, as far as is known.
  virtual Seconds lead() const { return {}; }
};

/// The fast path: WAV and AIFF with plain samples and FLAC, mono or stereo, by libsndfile, without loading FFmpeg's
/// codecs (20 ms a file). It takes undamaged files only and is strict about it: null for everything it does not know to
/// come out as from FFmpeg, and an error from `next` as soon as something is odd; FFmpeg then decodes the file from its
/// start. `bytes` must outlive the source.
std::unique_ptr<AudioSource> open_with_sndfile(ByteSource& bytes);

/// Remarks on a file beside its audio.
struct AudioRemarks {
  Losses losses{};                    // what damage cost
  Losses notes{};                     // what was chosen, and the tracks and channels there are
  int track = 1;                      // the audio track that was opened, from 1
  std::vector<std::string> tracks{};  // what all of them are called; an empty one where the file has no name for it
};

/// Opens anything FFmpeg reads and decodes one audio track, `track` from 1; 0: the one that the ffmpeg program would
/// pick, with most channels, default streams first. `name` is the file's name without folders; its extension helps to
/// tell formats without a signature apart, and nothing else is ever opened (no playlist, no network). Both `remarks`
/// and `bytes` must outlive the source. The tracks are in `remarks` even where the one that was chosen cannot be
/// decoded.
Result<std::unique_ptr<AudioSource>> open_with_ffmpeg(ByteSource& bytes, const std::string& name, int track,
                                                      AudioRemarks& remarks);

}  // namespace tutti
