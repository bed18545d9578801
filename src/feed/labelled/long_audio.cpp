#include "feed/labelled/long_audio.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "base/try.h"

namespace tutti {
namespace {

constexpr std::int64_t kMargin = 1024;  // samples on either side that the resampler's filter may reach

std::int64_t converted(std::int64_t frames, Hertz from, Hertz to) {
  return std::llround(static_cast<double>(frames) * to.value / from.value);
}

/// [first, end) of a file that libsndfile reads.
Result<NativeClip> read_clip(ByteSource& bytes, const ClipFacts& facts, std::int64_t first, std::int64_t end) {
  // A quarter of a sample more, so that seconds come back as the same sample, rounded down or to the nearest.
  const auto seconds_at = [&](std::int64_t frame) {
    constexpr double kPart = 0.25;
    return Seconds((static_cast<double>(frame) + kPart) / facts.rate.value);
  };
  auto clip = decode_clip(bytes, {.start = seconds_at(first), .end = seconds_at(end)});
  if (clip && clip->facts.frames != end - first)
    return fail(Fault::corrupt, "ends at " + std::to_string(first + clip->facts.frames) + " of " +
                                    std::to_string(facts.frames) + " samples");
  return clip;
}

/// The same of a recording on disk.
Result<NativeClip> read_recording(const Recording& recording, std::int64_t first, std::int64_t end) {
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(end - first));
  TRY(recording.read(first, pcm));
  return native_clip(std::move(pcm));
}

}  // namespace

LongAudio::LongAudio(ReadNative read, const ClipFacts& facts, Hertz rate)
    : read_(std::move(read)), facts_(facts), rate_(rate), samples_(converted(facts.frames, facts.rate, rate)) {}

std::optional<LongAudio> LongAudio::open(const std::filesystem::path& path, Hertz rate, Seconds least) {
  auto opened = open_audio(path);
  if (!opened) return std::nullopt;
  HeadBytes head(opened->bytes);
  const auto facts = clip_facts(head);
  if (!facts || facts->length() < least) return std::nullopt;
  const auto file = std::make_shared<OpenAudio>(std::move(*opened));
  return LongAudio([file, facts = *facts](std::int64_t first,
                                          std::int64_t end) { return read_clip(file->bytes, facts, first, end); },
                   *facts, rate);
}

Result<std::optional<LongAudio>> LongAudio::decoded(const std::filesystem::path& path, const ChildDecoder& children,
                                                    Hertz rate, Seconds least) {
  const auto length = seconds_of(path, least);
  if (!length || *length < least.count()) return std::optional<LongAudio>();
  auto decoded = TRY(children.recording(path));
  const auto recording = std::make_shared<const Recording>(std::move(decoded));
  return std::optional(
      LongAudio([recording](std::int64_t first, std::int64_t end) { return read_recording(*recording, first, end); },
                {.rate = kModelRate, .channels = 1, .frames = recording->samples()}, rate));
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
  const auto clip = TRY(read_(begin_in, end_in));
  auto audio = TRY(resampler_.convert(mono_mean(clip), rate_));
  auto& samples = audio.samples;
  samples.erase(samples.begin(), samples.begin() + std::min(first - begin_out, std::ssize(samples)));
  samples.resize(static_cast<std::size_t>(end - first));
  TRY(check_.add(samples, first));
  return std::move(samples);
}

}  // namespace tutti
