#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "audio/mel/log_mel.h"
#include "base/error.h"
#include "base/units.h"
#include "text/tokenizer.h"
#include "transcribe/mel_source.h"
#include "transcript/long_form.h"

namespace tutti {

inline double seconds_of(std::int64_t samples) {
  return length_of(samples, kModelRate).count();
}

/// What live text is made with. Borrowed; outlives the reader.
struct LiveModel {
  const Tokenizer& tokenizer;
  const LogMel& log_mel;
  const LongFormOptions& rules;  // without timestamps
  LongFormInput input{};
  /// The decoder of one reading; its windows are free when it goes. `is_last`: no other will read that audio.
  std::function<std::unique_ptr<WindowDecoder>(MelSource& mels, bool is_last)> decoder{};
};

/// Audio as it comes to captions. One thread.
class LiveReader {
 public:
  virtual ~LiveReader() = default;

  /// Takes the next samples: 16 kHz. Reads nothing.
  virtual void take(std::span<const std::int16_t> pcm) = 0;
  /// The audio ends: nothing may follow.
  virtual void end() = 0;
  /// Reads what there is to read. Where speech goes on, it is read again only once there is so much more of it.
  /// Listener's calls come from in here. Errors are the decoder's.
  virtual Result<void> advance(Seconds more) = 0;
  /// Fixes all text of the audio up to now, as in a pause.
  virtual Result<void> settle() = 0;
  /// Times that a window was read.
  virtual std::int64_t readings() const = 0;
};

}  // namespace tutti
