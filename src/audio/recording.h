#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_choice.h"
#include "audio/sample_reader.h"
#include "base/error.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {

/// A decoded recording at 16 kHz, mono, 16 bits: on disk (an unnamed temporary file), not in memory, so ten hours cost
/// what one does; any sample can be read at any time. Thread-safe for reading.
class Recording final : public SampleReader {
 public:
  Recording(OwnedFd pcm, std::int64_t samples, std::vector<std::string> losses, std::vector<std::string> notes = {},
            std::vector<SampleRange> gaps = {})
      : pcm_(std::move(pcm)),
        samples_(samples),
        losses_(std::move(losses)),
        notes_(std::move(notes)),
        gaps_(std::move(gaps)) {}

  std::int64_t samples() const override { return samples_; }
  Seconds duration() const { return length_of(samples_, kModelRate); }

  Result<void> read(std::int64_t first, std::span<std::int16_t> out) const override;

  /// What damage cost, one sentence each ("12.3 s after 00:01:02 could not be decoded: ..."). Empty for a clean file.
  const std::vector<std::string>& losses() const { return losses_; }
  /// What was chosen of the file (track, channel) and how it is laid out, one sentence each. Nothing is damaged there.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Both, what damage cost first.
  std::vector<std::string> remarks() const;
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  /// Where the file has no audio, so that silence keeps its time: before a track that begins late, and in holes.
  const std::vector<SampleRange>& gaps() const { return gaps_; }

 private:
  OwnedFd pcm_;
  std::int64_t samples_;
  std::vector<std::string> losses_;
  std::vector<std::string> notes_;
  std::vector<SampleRange> gaps_;
};

/// The name of an input in messages: its path, or "standard input" for "-".
std::string name_of_input(const std::filesystem::path& path);

/// Called now and then with the seconds of audio decoded so far, and at the end with all of them; returning false stops
/// with Fault::cancelled.
using OnDecoded = std::function<bool(Seconds)>;

/// What a decoding child may use before it counts as stuck or run wild.
struct DecodeLimits {
  Seconds silence{60};              // without any progress: killed. Reading standard input does not count
  Bytes memory{3LL << 30};          // address space beyond the program's own; 0: no limit
  std::filesystem::path program{};  // that runs decode_audio_main; empty: $TUTTI_DECODER, else this program
};

/// Decodes a whole file ("-": standard input) to a Recording, converting rate and channels as the reference does
/// (FFmpeg's libswresample to 16-bit, 16 kHz, mono). The decoding runs in a child process (see decode_child.h), so a
/// codec that crashes, hangs or runs wild is an error value. Where no audio track is chosen, it takes the one the
/// ffmpeg program would, or one with speech where that has none. Blocks; callable from several threads at once.
Result<Recording> decode_recording(const std::filesystem::path& path, const OnDecoded& on_decoded = {},
                                   const DecodeLimits& limits = {}, const AudioChoice& choice = {});

}  // namespace tutti
