#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "audio/synth/audio_file.h"
#include "base/files.h"
#include "base/try.h"
#include "public/tutti/recording.h"

namespace tutti {
namespace {

/// As FFmpeg's libswresample makes 16 bits of floats, so that samples which were 16 bits once are the same again.
std::int16_t pcm_of_sample(float sample) {
  constexpr float kScale = 32768, kLeast = -32768, kMost = 32767;
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * kScale, kLeast, kMost)));
}

/// A file in memory.
Result<OwnedFd> kept_in_memory(std::span<const std::byte> bytes, const std::string& name) {
  OwnedFd file(::memfd_create("tutti-recording", MFD_CLOEXEC));
  if (!file) return fail_errno(name, "cannot be kept in memory");
  TRY(write_all(file.get(), bytes, name));
  return file;
}

}  // namespace

Result<std::vector<std::int16_t>> pcm_of_samples(std::span<const float> samples, const std::string& name) {
  std::vector<std::int16_t> pcm(samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (std::isnan(samples[i]))
      return fail(Fault::usage,
                  name + ": expected samples of -1 to 1, found sample " + std::to_string(i) + " that is not a number");
    pcm[i] = pcm_of_sample(samples[i]);
  }
  return pcm;
}

Result<RecordingInput> RecordingInput::of_samples(std::span<const std::int16_t> samples, Hertz rate, std::string name) {
  constexpr std::size_t kMostBytes = std::numeric_limits<std::int32_t>::max();
  if (samples.empty() || rate.value < 1 || samples.size_bytes() > kMostBytes)
    return fail(Fault::usage, name + ": expected 1 to " + std::to_string(kMostBytes / sizeof(std::int16_t)) +
                                  " samples at 1 Hz or more, found " + std::to_string(samples.size()) + " at " +
                                  std::to_string(rate.value) + " Hz");
  const auto bytes = wav_bytes(samples, rate);
  auto file = TRY(kept_in_memory(std::as_bytes(std::span(bytes)), name));
  return RecordingInput(std::move(file), std::move(name));
}

Result<RecordingInput> RecordingInput::of_samples(std::span<const float> samples, Hertz rate, std::string name) {
  const auto pcm = TRY(pcm_of_samples(samples, name));
  return of_samples(pcm, rate, std::move(name));
}

Result<RecordingInput> RecordingInput::of_bytes(std::span<const std::byte> bytes, std::string name) {
  if (bytes.empty()) return fail(Fault::usage, name + ": expected the bytes of an audio file, found none");
  auto file = TRY(kept_in_memory(bytes, name));
  return RecordingInput(std::move(file), std::move(name));
}

Result<RecordingInput> RecordingInput::of_file(const std::filesystem::path& path) {
  // Not blocking: opening a pipe without a writer would wait.
  OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return fail_errno(path.string(), "cannot be opened");
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return fail_errno(path.string(), "cannot be examined");
  if (!S_ISREG(facts.st_mode))
    return fail(Fault::usage, path.string() + ": expected a regular file, found " +
                                  (S_ISDIR(facts.st_mode) ? "a folder" : "a pipe or a device"));
  return RecordingInput(std::move(file), path.string());
}

}  // namespace tutti
