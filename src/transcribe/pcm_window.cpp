#include "transcribe/pcm_window.h"

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/try.h"
#include "transcript/fallback.h"

namespace tutti {
namespace {

constexpr float kFullScale = 32768;

/// Both within the window, and none before the other; false: they are no times.
bool settle_times(double& start, double& end, Seconds window) {
  if (!std::isfinite(start) || !std::isfinite(end)) return false;
  start = std::clamp(start, 0.0, window.count());
  end = std::clamp(end, start, window.count());
  return true;
}

}  // namespace

Result<std::vector<float>> pcm_of(const SampleReader& audio) {
  std::vector<std::int16_t> samples(static_cast<std::size_t>(audio.samples()));
  TRY(audio.read(0, samples));
  std::vector<float> pcm(samples.size());
  std::ranges::transform(samples, pcm.begin(),
                         [](std::int16_t value) { return static_cast<float>(value) / kFullScale; });
  return pcm;
}

Result<Transcript> transcript_of(const Transcribed& answer, Seconds window) {
  auto transcript = read_transcript_json(answer.transcript);
  if (!transcript) return transcript;
  for (Segment& segment : transcript->segments) {
    bool is_valid = settle_times(segment.start, segment.end, window);
    for (Word& word : segment.words) is_valid &= settle_times(word.start, word.end, window);
    if (!is_valid)
      return fail(Fault::corrupt, "segment " + std::to_string(&segment - transcript->segments.data()) +
                                      " of a transcript: expected times in seconds, found others");
    segment.seek = 0;
    segment.tokens.clear();  // of a vocabulary that is not known here
    segment.compression_ratio = compression_ratio(segment.text);
  }
  return transcript;
}

PcmWindow::~PcmWindow() {
  if (window_ != 0) engine_.release(window_);
}

Result<Transcript> PcmWindow::transcribe(const std::string& language) {
  const WindowId window = next_window_id();
  const auto requested = Clock::real().now();
  TRY(engine_.open({.window = window, .frames = static_cast<std::int32_t>(pcm_.size())}, pcm_));
  window_ = window;
  const auto answer = TRY(engine_.transcribe(
      {.window = window, .language = other_.can("language") ? language : "", .options = other_.options}));
  const Seconds busy(answer.seconds);
  costs_.counts += {.windows = 1, .decodings = 1};
  costs_.spent.decoder += busy;
  costs_.spent.waiting += std::max(Seconds(0), Seconds(Clock::real().now() - requested) - busy);
  return transcript_of(answer, length_of(static_cast<std::int64_t>(pcm_.size()), kModelRate));
}

}  // namespace tutti
