#include "feed/stages/sample_stages.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>

#include "audio/recording.h"
#include "base/counter_random.h"
#include "base/files.h"
#include "feed/stages/pcm.h"

namespace tutti {
namespace {

/// Frames behind the last whole hop that may still hold some of the sound.
constexpr std::int64_t kStraddling = 3;

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

tl::unexpected<Error> too_long(double seconds, Seconds window) {
  return fail(Fault::corrupt,
              "lasts " + seconds_text(seconds) + ", the model hears " + seconds_text(window.count()) +
                  ", and the times of its text are not known",
              "Give start and end, a transcript with times, or cut it with 'tutti prepare whisper'");
}

OwnedFd open_for_reading(const std::filesystem::path& path) {
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

/// Length of the file by its header. For formats whose headers only FFmpeg reads, a guess: the row's real length is
/// what counts in the end.
Result<double> seconds_of(const std::filesystem::path& path) {
  const OwnedFd file = open_for_reading(path);
  if (!file) return tl::unexpected(system_error(path.string(), "cannot be opened", errno));
  auto bytes = FileBytes::over(file.get());
  if (!bytes) return tl::unexpected(bytes.error());
  const auto facts = clip_facts(*bytes);
  if (facts) return facts->length().count();
  if (facts.error().fault != Fault::unsupported) return tl::unexpected(facts.error());
  constexpr double kBytesPerSecond = 12'000;  // of a lossy codec at 96 kbit/s
  return static_cast<double>(bytes->size()) / kBytesPerSecond;
}

Result<std::vector<std::byte>> read_bytes(const std::filesystem::path& path) {
  const OwnedFd file = open_for_reading(path);
  if (!file) return tl::unexpected(system_error(path.string(), "cannot be opened", errno));
  auto source = FileBytes::over(file.get());
  if (!source) return tl::unexpected(source.error());
  std::vector<std::byte> bytes(static_cast<std::size_t>(source->size()));
  for (std::size_t done = 0; done < bytes.size();) {
    const auto got = source->read_at(static_cast<std::int64_t>(done), std::span(bytes).subspan(done));
    if (!got) return tl::unexpected(got.error());
    if (*got == 0) return fail(Fault::corrupt, path.string() + ": became shorter while it was read");
    done += *got;
  }
  return bytes;
}

/// Formats that libsndfile does not know: the whole file through a decoding child.
Result<NativeClip> decode_in_child(const std::filesystem::path& path, const ClipRange& range) {
  const auto recording = decode_recording(path);
  if (!recording) return tl::unexpected(recording.error());
  if (!recording->losses().empty()) return fail(Fault::corrupt, recording->losses().front());
  const std::int64_t all = recording->samples();
  const auto first = std::min(samples_in(range.start.value_or(Seconds(0)), kModelRate), all);
  const auto last = range.end ? std::clamp(samples_in(*range.end, kModelRate), first, all) : all;
  std::vector<std::int16_t> pcm(static_cast<std::size_t>(last - first));
  if (auto read = recording->read(first, pcm); !read) return tl::unexpected(read.error());
  return native_clip(std::move(pcm));
}

/// What everything random about a sample in an epoch is drawn from.
std::uint64_t key_of(const FeedOptions& options, std::int64_t epoch, const std::string& id) {
  return mixed({options.seed, static_cast<std::uint64_t>(epoch), digest(id)});
}

ClipRange range_of(const DatasetLine& line) {
  ClipRange range;
  if (line.start) range.start = Seconds(*line.start);
  if (line.end) range.end = Seconds(*line.end);
  return range;
}

}  // namespace

std::int32_t SampleStages::frames_of(std::int64_t samples) {
  return static_cast<std::int32_t>(std::max<std::int64_t>(samples / kHopSamples, 1));
}

Probed SampleStages::probe(Probed probed) const {
  if (probed.kind != Probed::Kind::sample) return probed;
  const auto line = set_.at(probed.index);
  const auto planned = line ? plan_of(probed, *line) : tl::unexpected<Error>(line.error());
  if (planned) {
    probed.samples = *planned;
  } else {
    probed.id = set_.id(probed.index);
    probed.bad = planned.error();
  }
  return probed;
}

Result<std::vector<PlannedSample>> SampleStages::plan_of(const Probed& probed, const DatasetLine& line) const {
  if (line.text.empty() && !line.is_noise && line.times.empty()) return fail(Fault::corrupt, "its text is missing");
  Result<double> seconds = 0.0;
  if (line.start || line.end) {
    if (!line.end) return fail(Fault::corrupt, "a start without an end");
    seconds = *line.end - line.start.value_or(0);
    if (*seconds <= 0) return fail(Fault::corrupt, "ends at " + seconds_text(*line.end) + ", before it starts");
  } else {
    seconds = line.duration ? Result<double>(*line.duration) : seconds_of(line.audio);
  }
  if (!seconds) return tl::unexpected(seconds.error());
  if (*seconds > options_.window.count()) return too_long(*seconds, options_.window);
  const double speed = speed_of(options_.augmentation, key_of(options_, probed.epoch, line.id));
  const auto samples = static_cast<std::int64_t>(std::llround(*seconds / speed * kModelRate.value));
  return std::vector{PlannedSample{probed.index, -1, frames_of(samples)}};
}

void SampleStages::augment(Row& row) const {
  const std::uint64_t key = key_of(options_, row.work->batch.epoch, row.line.id);
  const double speed = speed_of(options_.augmentation, key);
  row.pcm = augmented(std::move(row.pcm), options_.augmentation, key);
  for (TimedText& text : row.times) text = {text.start / speed, text.end / speed, std::move(text.text)};
}

void SampleStages::read(Row& row) const {
  auto line = set_.at(row.planned.index);
  if (!line) {
    row.line.id = set_.id(row.planned.index);
    row.bad = line.error();
    return;
  }
  row.line = std::move(*line);
  auto bytes = read_bytes(row.line.audio);
  if (bytes)
    row.bytes = std::move(*bytes);
  else
    row.bad = bytes.error();
}

void SampleStages::decode(Row& row) const {
  MemoryBytes bytes(row.bytes);
  auto clip = decode_clip(bytes, range_of(row.line));
  if (!clip && clip.error().fault == Fault::unsupported) clip = decode_in_child(row.line.audio, range_of(row.line));
  row.bytes = {};
  if (clip)
    row.clip = std::move(*clip);
  else
    row.bad = clip.error();
}

void SampleStages::resample(Row& row) {
  auto pcm = resamplers_.with([&](ClipResampler& resampler) { return resampler.convert(std::move(row.clip)); });
  row.clip = {};
  if (!pcm)
    row.bad = pcm.error();
  else if (length_of(std::ssize(*pcm), kModelRate) > options_.window)
    row.bad = too_long(length_of(std::ssize(*pcm), kModelRate).count(), options_.window).value();
  else
    row.pcm = std::move(*pcm);
}

/// Fills all `stride` frames of a row. The clamp looks at every frame that holds sound, those straddling the end
/// included, so a sample's features do not depend on how long its neighbours are.
Result<void> SampleStages::write_features(const SampleReader& sound, std::int32_t real, float* out,
                                          std::int64_t stride) const {
  const std::int64_t sounding = real + kStraddling;
  const std::int64_t mels = options_.n_mels;
  if (sounding > stride) {
    std::vector<float> whole(static_cast<std::size_t>(mels * sounding));
    auto done = log_mel_.window_into(sound, 0, sounding, whole.data(), sounding);
    if (!done) return tl::unexpected(done.error());
    for (std::int64_t bin = 0; bin < mels; ++bin)
      std::copy_n(whole.data() + bin * sounding, stride, out + bin * stride);
    return {};
  }
  const auto silence = log_mel_.window_into(sound, 0, sounding, out, stride);
  if (!silence) return tl::unexpected(silence.error());
  for (std::int64_t bin = 0; bin < mels; ++bin)
    std::fill(out + bin * stride + sounding, out + (bin + 1) * stride, *silence);
  return {};
}

void SampleStages::features(Row& row) const {
  Batch& batch = row.work->batch;
  const std::int32_t real = frames_of(std::ssize(row.pcm));
  float* out = batch.row(static_cast<std::int64_t>(row.at));
  std::int64_t stride = batch.frames;
  if (real > batch.frames) {
    auto& own = row.work->overlong[row.at];
    own.resize(static_cast<std::size_t>(batch.n_mels * real));
    out = own.data();
    stride = real;
  }
  const auto silence = write_features(PcmSamples(row.pcm), real, out, stride);
  row.pcm = {};
  if (!silence) {
    row.bad = silence.error();
    return;
  }
  mask_spectrum(out, batch.n_mels, stride, std::min<std::int64_t>(real, stride), options_.augmentation.spectrum,
                key_of(options_, batch.epoch, row.line.id));
  batch.samples[row.at] = {row.line.id, row.line.text, real, std::move(row.times), std::move(row.line.fields)};
}

}  // namespace tutti
