#include "audio/synth/sound_file.h"

#include <fcntl.h>
#include <sndfile.h>

#include <memory>

#include "base/bytes.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {
namespace {

std::string wav_header(std::uint32_t bytes, Hertz rate) {
  constexpr std::uint32_t kBytesPerSample = 2;
  ByteWriter sizes, format;
  sizes.put(bytes + 36);
  format.put(std::uint32_t{16});  // of this chunk
  format.put(std::uint16_t{1});   // PCM
  format.put(std::uint16_t{1});   // path
  format.put(static_cast<std::uint32_t>(rate.value));
  format.put(static_cast<std::uint32_t>(rate.value) * kBytesPerSample);
  format.put(static_cast<std::uint16_t>(kBytesPerSample));
  format.put(static_cast<std::uint16_t>(8 * kBytesPerSample));
  ByteWriter data;
  data.put(bytes);
  return "RIFF" + sizes.take() + "WAVEfmt " + format.take() + "data" + data.take();
}

Result<void> write_wav(const std::filesystem::path& path, std::span<const std::int16_t> pcm, Hertz rate) {
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return fail_errno(path.string(), "cannot be written");
  std::string bytes = wav_header(static_cast<std::uint32_t>(pcm.size_bytes()), rate);
  bytes.append(reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes());
  return write_all(file.get(), std::as_bytes(std::span(bytes)), path.string());
}

Result<void> write_flac(const std::filesystem::path& path, std::span<const std::int16_t> pcm, Hertz rate) {
  SF_INFO info{};
  info.samplerate = rate.value;
  info.channels = 1;
  info.format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  std::unique_ptr<SNDFILE, FreeWith<sf_close>> file(sf_open(path.c_str(), SFM_WRITE, &info));
  const auto frames = static_cast<sf_count_t>(pcm.size());
  if (!file || sf_writef_short(file.get(), pcm.data(), frames) != frames)
    return fail(Fault::exhausted, path.string() + ": cannot be written: " + sf_strerror(file.get()));
  // The last frames go out as it is closed.
  if (const int error = sf_close(file.release()); error != 0)
    return fail(Fault::exhausted, path.string() + ": cannot be written to its end: " + sf_error_number(error));
  return {};
}

}  // namespace

Result<void> write_sound(const std::filesystem::path& path, std::span<const std::int16_t> pcm, SoundFormat format,
                         Hertz rate) {
  return format == SoundFormat::wav ? write_wav(path, pcm, rate) : write_flac(path, pcm, rate);
}

}  // namespace tutti
