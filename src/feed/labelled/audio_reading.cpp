#include "feed/labelled/audio_reading.h"

#include <algorithm>
#include <cmath>

#include "audio/clip/clip.h"
#include "base/numbers.h"

namespace tutti {
namespace {

/// Fault::corrupt for what no microphone has recorded.
Result<void> check_audio(const MonoAudio& audio) {
  const auto& samples = audio.samples;
  if (samples.empty()) return fail(Fault::corrupt, "holds no sound");
  SampleCheck check;
  if (auto finite = check.add(samples); !finite) return finite;
  if (check.is_silent()) return silent_error();
  return {};
}

}  // namespace

Result<void> SampleCheck::add(std::span<const float> samples, std::int64_t first) {
  if (samples.empty()) return {};
  constexpr float kMost = 0x1p32F;  // full scale is 1; where whole numbers of 32 bits are kept as floats, 2^31
  const auto odd = std::ranges::find_if(samples, [](float value) { return !(std::abs(value) <= kMost); });
  if (odd != samples.end())
    return fail(Fault::corrupt, "sample " + std::to_string(first + (odd - samples.begin())) +
                                    (std::isfinite(*odd) ? " is " + number_text(*odd) + ", which no recording holds"
                                                         : std::string(" is no finite number")));
  const auto [least, most] = std::ranges::minmax(samples);
  least_ = has_samples_ ? std::min(least_, least) : least;
  most_ = has_samples_ ? std::max(most_, most) : most;
  has_samples_ = true;
  return {};
}

bool SampleCheck::is_silent() const {
  constexpr float kLeastRange = 1.0F / 65536;  // half a step of 16 bits
  return most_ - least_ < kLeastRange;
}

tl::unexpected<Error> silent_error() {
  return fail(Fault::corrupt, "is silent: all of its samples are the same");
}

Result<ReadAudio> read_labelled_audio(const std::filesystem::path& path, const ChildDecoder& children,
                                      const ClipRange& range) {
  const auto bytes = read_bytes(path);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  MemoryBytes memory(*bytes);
  auto clip = decode_clip(memory, range);
  if (!clip && clip.error().fault == Fault::unsupported) clip = children.decode(path, range);
  if (!clip) return tl::unexpected<Error>(clip.error());
  ReadAudio read{.audio = mono_mean(*clip), .content = cache_key(*bytes, {})};
  if (auto checked = check_audio(read.audio); !checked) return tl::unexpected<Error>(checked.error());
  return read;
}

std::optional<HeaderFacts> header_facts(const std::filesystem::path& path) {
  auto file = open_audio(path);
  if (!file) return std::nullopt;
  HeadBytes bytes(file->bytes);
  if (const auto found = clip_facts(bytes)) return HeaderFacts{found->rate, found->length()};
  constexpr Seconds kLongestGuess{10};
  if (const auto length = seconds_of(path, kLongestGuess)) return HeaderFacts{kModelRate, Seconds(*length)};
  return std::nullopt;
}

bool is_fault_of_file(const Error& error) {
  switch (error.fault) {
    case Fault::corrupt:
    case Fault::missing:
    case Fault::refused:
    case Fault::unsupported:
    case Fault::usage: return true;
    default: return false;
  }
}

}  // namespace tutti
