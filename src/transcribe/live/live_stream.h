#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/guarded.h"
#include "transcribe/live/captions.h"
#include "transcribe/live/live_reader.h"
#include "transcribe/model_context.h"
#include "transcribe/pool/pooled_recording.h"
#include "transcribe/speech_options.h"

namespace tutti {

/// Options of recordings without what live audio does not have: word times, speakers and
/// replacements go, and speech that energy was to find is found by silero.
SpeechOptions as_live(SpeechOptions options);

/// Live audio on the devices of a pool: a job of the interactive class beside all others. Owns a thread, which calls
/// the listener. Its memory does not grow. Thread-safe.
class LiveStream {
 public:
  /// Begins at once. Fault::usage and others for options that no recording could be transcribed by with this model, and
  /// for word times, clips, batched windows and energy's speech detection, which live audio does not have.
  /// Fault::unsupported for another engine's model. `pool`, `model` and `listener` outlive it; `job` is unique in the
  /// pool.
  static Result<std::unique_ptr<LiveStream>> start(DevicePool& pool, const ModelContext& model, SpeechOptions options,
                                                   std::uint64_t job, CaptionListener& listener);
  /// Cancels it, and waits until the listener is called no more.
  ~LiveStream();
  LiveStream(const LiveStream&) = delete;
  LiveStream& operator=(const LiveStream&) = delete;

  /// Hands in the next samples, 16 kHz. False: so much waits already that none of them was taken.
  bool offer(std::span<const std::int16_t> pcm);
  /// The same, but waits for its turn. False: it has ended.
  bool feed(std::span<const std::int16_t> pcm);
  /// Has all text of the audio up to now fixed, and reported by on_settled.
  void settle();
  /// The audio ends: the rest becomes final, then on_end is called.
  void finish();
  /// Ends it soon: what it has in work on the devices is free at once.
  void cancel();
  /// Waits until it has ended.
  void wait();
  bool is_over() const {
    return input_.with([](const Input& input) { return input.over; });
  }

 private:
  struct Input {
    std::vector<std::int16_t> pcm{};
    bool settles = false;  // a settlement was requested behind them
    bool ends = false;
    bool cancelled = false;
    bool over = false;  // nothing is taken any more
  };

  LiveStream(DevicePool& pool, const ModelContext& model, SpeechOptions options, FittedOptions fitted,
             std::uint64_t job, CaptionListener& listener);
  static bool has_space(const Input& input);
  void run();
  Result<void> transcribe();
  Result<void> take_and_read(Input input, LiveReader& reader);

  const ModelContext& model_;
  const SpeechOptions options_;
  const FittedOptions fitted_;
  CaptionListener& listener_;
  PooledRecording pooled_;
  Guarded<Input> input_{};
  Seconds more_;  // of speech from one reading to the next: longer where readings take longer
  std::jthread thread_{};
};

}  // namespace tutti
