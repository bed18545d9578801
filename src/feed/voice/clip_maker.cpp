#include "feed/voice/clip_maker.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "audio/voice/level.h"
#include "audio/voice/pitch.h"
#include "base/numbers.h"
#include "base/random/counter_random.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// Everything that is written, marks and spaces included.
std::int64_t characters_of(std::string_view text) {
  return std::ssize(to_code_points(text));
}

std::string rate_text(std::int64_t characters, Seconds length) {
  return std::to_string(characters) + " characters in " + fixed_text(length.count(), 2) + " s";
}

}  // namespace

Result<void> check_clip(const MonoAudio& audio, std::string_view text, const ClipLimits& limits, double trim_decibels) {
  const std::int64_t characters = characters_of(text);
  const auto refuse = [](std::string why) -> Result<void> { return fail(Fault::corrupt, std::move(why)); };
  const Seconds length = audio.length();
  if (length > limits.longest)
    return refuse("it is " + fixed_text(length.count(), 1) + " s long, expected at most " +
                  fixed_text(limits.longest.count(), 1));
  if (static_cast<double>(characters) > limits.most_characters * length.count())
    return refuse("more text than its audio can hold: " + rate_text(characters, length) + ", expected at most " +
                  number_text(limits.most_characters) + " a second");
  constexpr Seconds kShort{2};
  const auto range = sounding_range(audio.samples, audio.rate, trim_decibels);
  const Seconds sounding = length_of(range.end - range.start, audio.rate);
  if (sounding >= kShort && static_cast<double>(characters) < limits.least_characters * sounding.count())
    return refuse("less text than it has audio: " + rate_text(characters, sounding) + ", expected at least " +
                  number_text(limits.least_characters) + " a second");
  constexpr float kFull = 0.999F;
  const auto clipped = std::ranges::count_if(audio.samples, [](float value) { return std::abs(value) >= kFull; });
  const double share =
      static_cast<double>(clipped) / static_cast<double>(std::max<std::size_t>(audio.samples.size(), 1));
  if (share > limits.most_clipped)
    return refuse("it is clipped: " + fixed_text(100 * share, 2) + " % of its samples are at full scale");
  return {};
}

std::vector<float> ClipMaker::trimmed(std::span<const float> samples, Seconds edge) const {
  const Hertz rate = mel_.options().rate;
  auto range = sounding_range(samples, rate, audio_.trim_decibels);
  const std::int64_t kept = samples_in(edge, rate);
  range.start = std::max<std::int64_t>(range.start - kept, 0);
  range.end = std::min(range.end + kept, std::ssize(samples));
  const auto part =
      samples.subspan(static_cast<std::size_t>(range.start), static_cast<std::size_t>(range.end - range.start));
  std::vector<float> audio(part.begin(), part.end());
  if (audio_.level > 0) bring_to_level(audio, audio_.level);
  return audio;
}

NewVoiceClip ClipMaker::features(std::vector<float> samples, std::string_view name) const {
  if (audio_.noise > 0) add_background_noise(samples, audio_.noise, mixed({audio_.seed, digest(name)}));
  NewVoiceClip clip;
  clip.mel = mel_.compute(samples, clip.energy);
  clip.pitch = pitch_of(samples, {.rate = mel_.options().rate, .hop = mel_.options().hop});
  clip.name = name;
  clip.audio = std::move(samples);
  return clip;
}

}  // namespace tutti
