#include "feed/labelled/long_audio.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace tutti {
namespace {

constexpr std::int64_t kMargin = 1024;  // samples on either side that the resampler's filter may reach

std::int64_t converted(std::int64_t frames, Hertz from, Hertz to) {
  return std::llround(static_cast<double>(frames) * to.value / from.value);
}

}  // namespace

LongAudio::LongAudio(OpenAudio file, const ClipFacts& facts, Hertz rate)
    : file_(std::make_unique<OpenAudio>(std::move(file))),
      facts_(facts),
      rate_(rate),
      samples_(converted(facts.frames, facts.rate, rate)) {}

std::optional<LongAudio> LongAudio::open(const std::filesystem::path& path, Hertz rate, Seconds least) {
  auto file = open_audio(path);
  if (!file) return std::nullopt;
  HeadBytes head(file->bytes);
  const auto facts = clip_facts(head);
  if (!facts || facts->length() < least) return std::nullopt;
  return LongAudio(std::move(*file), *facts, rate);
}

Result<std::vector<float>> LongAudio::read(std::int64_t first, std::int64_t count) {
  const auto end = std::min(first + count, samples_);
  // Both rates have a sample at the start of what is decoded: else everything would be shifted by part of one.
  const std::int64_t common = std::gcd(facts_.rate.value, rate_.value);
  const std::int64_t step_in = facts_.rate.value / common, step_out = rate_.value / common;
  const std::int64_t margin = step_in == step_out ? 0 : kMargin;
  const auto steps = std::max<std::int64_t>(0, first - margin) / step_out;
  const auto begin_in = steps * step_in, begin_out = steps * step_out;
  const auto end_in = std::min(facts_.frames, (end + margin + step_out - 1) / step_out * step_in);
  // A quarter of a sample more, so that seconds come back as the same sample, rounded down or to the nearest.
  const auto seconds_at = [&](std::int64_t frame) {
    constexpr double kPart = 0.25;
    return Seconds((static_cast<double>(frame) + kPart) / facts_.rate.value);
  };
  auto clip = decode_clip(file_->bytes, {.start = seconds_at(begin_in), .end = seconds_at(end_in)});
  if (!clip) return tl::unexpected<Error>(clip.error());
  if (clip->facts.frames != end_in - begin_in)
    return fail(Fault::corrupt, "ends at " + std::to_string(begin_in + clip->facts.frames) + " of " +
                                    std::to_string(facts_.frames) + " samples");
  auto audio = resampler_.convert(mono_mean(*clip), rate_);
  if (!audio) return tl::unexpected<Error>(audio.error());
  auto& samples = audio->samples;
  samples.erase(samples.begin(), samples.begin() + std::min(first - begin_out, std::ssize(samples)));
  samples.resize(static_cast<std::size_t>(end - first));
  if (auto finite = check_.add(samples, first); !finite) return tl::unexpected<Error>(finite.error());
  return std::move(samples);
}

}  // namespace tutti
