#include "feed/labelled/audio_reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "audio/clip/clip.h"
#include "base/numbers.h"

namespace tutti {
namespace {

constexpr float kLargestSample = 0x1p32F;  // full scale is 1; where whole numbers of 32 bits are kept as floats, 2^31

bool is_odd(float value) {
  return !(std::abs(value) <= kLargestSample);
}

struct SampleRange {
  float least = 0, most = 0;
  bool is_odd = false;  // one of the samples is; then the two are of no use
};

/// `range`, with these samples. Several side by side, as a processor's vectors hold them: every file passes here.
SampleRange range_of(std::span<const float> samples, SampleRange range) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> least, most;
  std::array<std::uint32_t, kLanes> odd{};
  least.fill(range.least);
  most.fill(range.most);
  const auto take = [&](std::size_t lane, float value) {
    odd[lane] |= is_odd(value) ? 1U : 0U;
    least[lane] = value < least[lane] ? value : least[lane];
    most[lane] = value > most[lane] ? value : most[lane];
  };
  std::size_t at = 0;
  for (; at + kLanes <= samples.size(); at += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, samples[at + lane]);
  for (; at < samples.size(); ++at) take(0, samples[at]);
  return {*std::ranges::min_element(least), *std::ranges::max_element(most),
          std::ranges::any_of(odd, [](std::uint32_t any) { return any != 0; })};
}

constexpr float kLeastRange = 1.0F / 65536;  // half a step of 16 bits

/// Whether the samples are all the same, as far as resampling rings on behind others.
bool is_digital_silence(std::span<const float> samples) {
  const auto [least, most] = std::ranges::minmax(samples);
  return most - least < kLeastRange;
}

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
  if (!has_samples_) least_ = most_ = samples[0];
  has_samples_ = true;
  if (const auto range = range_of(samples, {least_, most_, false}); !range.is_odd) {
    least_ = range.least;
    most_ = range.most;
    return {};
  }
  const auto odd = std::ranges::find_if(samples, is_odd);
  return fail(Fault::corrupt, "sample " + std::to_string(first + (odd - samples.begin())) +
                                  (std::isfinite(*odd) ? " is " + number_text(*odd) + ", which no recording holds"
                                                       : std::string(" is no finite number")));
}

bool SampleCheck::is_silent() const {
  return most_ - least_ < kLeastRange;
}

tl::unexpected<Error> silent_error() {
  return fail(Fault::corrupt, "is silent: all of its samples are the same");
}

Result<ReadAudio> read_labelled_audio(const std::filesystem::path& path, const ChildDecoder& children,
                                      const ClipRange& range, const std::optional<FileRange>& member) {
  const auto bytes = read_bytes(path, member);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  MemoryBytes memory(*bytes);
  auto clip = decode_clip(memory, range);
  if (!clip && clip.error().fault == Fault::unsupported) clip = children.decode(path, range, member);
  if (!clip) return tl::unexpected<Error>(clip.error());
  ReadAudio read{.audio = mono_mean(*clip), .content = cache_key(*bytes, {})};
  if (auto checked = check_audio(read.audio); !checked) return tl::unexpected<Error>(checked.error());
  return read;
}

std::int64_t start_of_clip(std::span<const float> samples, std::int64_t clip_samples, Hertz rate) {
  if (std::ssize(samples) <= clip_samples) return 0;
  constexpr std::int64_t kBlocksASecond = 100;
  const std::int64_t block = std::max<std::int64_t>(rate.value / kBlocksASecond, 1);
  const std::int64_t blocks = (std::ssize(samples) + block - 1) / block,
                     in_clip = std::max<std::int64_t>(clip_samples / block, 1);
  std::vector<std::int64_t> audible(static_cast<std::size_t>(blocks) + 1);  // blocks with audio before each
  for (std::int64_t i = 0; i < blocks; ++i) {
    const auto first = static_cast<std::size_t>(i * block);
    const auto count = std::min(samples.size() - first, static_cast<std::size_t>(block));
    audible[static_cast<std::size_t>(i) + 1] =
        audible[static_cast<std::size_t>(i)] + (is_digital_silence(samples.subspan(first, count)) ? 0 : 1);
  }
  const auto audio_from = [&](std::int64_t first) {
    return audible[static_cast<std::size_t>(std::min(first + in_clip, blocks))] -
           audible[static_cast<std::size_t>(first)];
  };
  if (2 * audio_from(0) >= std::min(in_clip, blocks)) return 0;
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < blocks; ++i)
    if (audio_from(i) > audio_from(best)) best = i;
  // The first stretch with as much may begin in silence: it begins with its audio.
  while (best > 0 && best + 1 < blocks && audio_from(best + 1) == audio_from(best) &&
         audible[static_cast<std::size_t>(best) + 1] == audible[static_cast<std::size_t>(best)])
    ++best;
  return best * block;
}

std::optional<HeaderFacts> header_facts(const std::filesystem::path& path, const std::optional<FileRange>& member) {
  auto file = open_audio(path);
  if (!file) return std::nullopt;
  auto whole = bytes_of(*file, member);
  HeadBytes bytes(whole);
  if (const auto found = clip_facts(bytes)) return HeaderFacts{found->rate, found->length()};
  constexpr Seconds kLongestGuess{10};
  if (const auto length = seconds_of(path, kLongestGuess, member)) return HeaderFacts{kModelRate, Seconds(*length)};
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
