#include "feed/labelled/audio_reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "audio/clip/clip.h"
#include "base/numbers.h"
#include "base/try.h"

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

/// A recording in blocks of 10 ms, and which of them are no digital silence.
class AudibleBlocks {
 public:
  AudibleBlocks(std::span<const float> samples, Hertz rate)
      : size_(std::max<std::int64_t>(rate.value / kBlocksASecond, 1)), before_{0} {
    for (std::int64_t first = 0; first < std::ssize(samples); first += size_) {
      const auto block = samples.subspan(static_cast<std::size_t>(first))
                             .first(static_cast<std::size_t>(std::min(size_, std::ssize(samples) - first)));
      before_.push_back(before_.back() + (is_digital_silence(block) ? 0 : 1));
    }
  }

  std::int64_t size() const { return size_; }  // samples of a block
  std::int64_t count() const { return std::ssize(before_) - 1; }
  /// How many of these blocks, as far as there are so many, are audible.
  std::int64_t audible(std::int64_t first, std::int64_t blocks) const {
    return before_[static_cast<std::size_t>(std::min(first + blocks, count()))] -
           before_[static_cast<std::size_t>(first)];
  }

 private:
  static constexpr std::int64_t kBlocksASecond = 100;
  std::int64_t size_;
  std::vector<std::int64_t> before_;  // audible blocks before each
};

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
  const auto bytes = TRY(read_bytes(path, member));
  MemoryBytes memory(bytes);
  auto clip = decode_clip(memory, range);
  if (!clip && clip.error().fault == Fault::unsupported) clip = children.decode(path, range, member);
  if (!clip) return tl::unexpected<Error>(clip.error());
  ReadAudio read{.audio = mono_mean(*clip), .content = cache_key(bytes, {})};
  TRY(check_audio(read.audio));
  return read;
}

std::int64_t start_of_clip(std::span<const float> samples, std::int64_t clip_samples, Hertz rate) {
  if (std::ssize(samples) <= clip_samples) return 0;
  const AudibleBlocks blocks(samples, rate);
  const std::int64_t in_clip = std::max<std::int64_t>(clip_samples / blocks.size(), 1);
  if (2 * blocks.audible(0, in_clip) >= std::min(in_clip, blocks.count())) return 0;
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < blocks.count(); ++i)
    if (blocks.audible(i, in_clip) > blocks.audible(best, in_clip)) best = i;
  // The first stretch with as much may begin in silence: it begins with its audio.
  while (best > 0 && best + 1 < blocks.count() && blocks.audible(best + 1, in_clip) == blocks.audible(best, in_clip) &&
         blocks.audible(best, 1) == 0)
    ++best;
  return best * blocks.size();
}

std::vector<std::int64_t> starts_of_clips(std::span<const float> samples, std::int64_t clip_samples, Hertz rate,
                                          std::int64_t count) {
  const std::int64_t last = std::ssize(samples) - clip_samples;
  if (count <= 1 || last <= 0) return {start_of_clip(samples, clip_samples, rate)};
  const AudibleBlocks blocks(samples, rate);
  const std::int64_t in_clip = std::max<std::int64_t>(clip_samples / blocks.size(), 1);
  std::vector<std::int64_t> starts;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = last * i / (count - 1);
    const bool is_new = starts.empty() || start > starts.back();
    if (is_new && 2 * blocks.audible(start / blocks.size(), in_clip) >= in_clip) starts.push_back(start);
  }
  if (starts.empty()) return {start_of_clip(samples, clip_samples, rate)};
  return starts;
}

std::int64_t clips_in(std::int64_t samples, std::int64_t clip_samples) {
  return std::max<std::int64_t>(1, (samples + clip_samples / 2) / clip_samples);
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
