#include "audio/synth/audio_file.h"

#include <fcntl.h>
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "base/owned.h"
#include "base/units.h"

namespace tutti {
namespace {

/// A chunk that names the program which made a file; nothing for none.
std::string software_chunk(std::string_view software) {
  if (software.empty()) return {};
  std::string name(software);
  name.append(2 - name.size() % 2, '\0');  // ends with a zero, at an even byte
  ByteWriter list, text;
  text.put(static_cast<std::uint32_t>(name.size()));
  const std::string facts = "INFOISFT" + text.take() + name;
  list.put(static_cast<std::uint32_t>(facts.size()));
  return "LIST" + list.take() + facts;
}

constexpr std::uint32_t kUnknownLength = 0xFFFFFFFF;

std::string wav_header(std::uint32_t bytes, Hertz rate, std::string_view software) {
  constexpr std::uint32_t kBytesPerSample = 2;
  const std::string facts = software_chunk(software);
  ByteWriter sizes, format;
  sizes.put(bytes == kUnknownLength ? bytes : static_cast<std::uint32_t>(bytes + 36 + facts.size()));
  format.put(std::uint32_t{16});  // size of this chunk
  format.put(std::uint16_t{1});   // PCM
  format.put(std::uint16_t{1});   // channels
  format.put(static_cast<std::uint32_t>(rate.value));
  format.put(static_cast<std::uint32_t>(rate.value) * kBytesPerSample);
  format.put(static_cast<std::uint16_t>(kBytesPerSample));
  format.put(static_cast<std::uint16_t>(8 * kBytesPerSample));
  ByteWriter data;
  data.put(bytes);
  return "RIFF" + sizes.take() + "WAVEfmt " + format.take() + facts + "data" + data.take();
}

/// An audio file that libsndfile writes in memory. Its error for a failed write names neither a full disk nor a file
/// size limit; so the bytes are written as all others are.
class AudioBytes {
 public:
  static SF_VIRTUAL_IO calls() { return {length, seek, read, write, tell}; }
  std::string take() { return std::move(bytes_); }

 private:
  static AudioBytes& audio(void* self) { return *static_cast<AudioBytes*>(self); }
  static sf_count_t length(void* self) { return static_cast<sf_count_t>(audio(self).bytes_.size()); }
  static sf_count_t tell(void* self) { return audio(self).at_; }
  static sf_count_t read(void*, sf_count_t, void*) { return 0; }  // nothing is, of a file that is made
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    if (whence == SEEK_CUR) offset += tell(self);
    if (whence == SEEK_END) offset += length(self);
    return audio(self).at_ = std::max<sf_count_t>(offset, 0);
  }
  static sf_count_t write(const void* from, sf_count_t count, void* self) {
    AudioBytes& it = audio(self);
    const auto at = static_cast<std::size_t>(it.at_), size = static_cast<std::size_t>(count);
    it.bytes_.resize(std::max(it.bytes_.size(), at + size));
    std::memcpy(it.bytes_.data() + at, from, size);
    it.at_ += count;
    return count;
  }

  std::string bytes_{};
  sf_count_t at_ = 0;
};

/// What libsndfile calls a format, and people.
struct Encoding {
  int format = 0;
  std::string name{};
};

Encoding encoding_of(AudioFormat format) {
  switch (format) {
    case AudioFormat::wav: return {SF_FORMAT_WAV | SF_FORMAT_PCM_16, "WAV"};
    case AudioFormat::flac: return {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, "FLAC"};
    case AudioFormat::mp3: return {SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, "MP3"};
    case AudioFormat::opus: return {SF_FORMAT_OGG | SF_FORMAT_OPUS, "Opus"};
  }
  return {};
}

Result<std::string> encoded_bytes(std::span<const std::int16_t> pcm, const Encoding& as, Hertz rate) {
  SF_INFO info{};
  info.samplerate = rate.value;
  info.channels = 1;
  info.format = as.format;
  AudioBytes audio;
  SF_VIRTUAL_IO calls = AudioBytes::calls();
  std::unique_ptr<SNDFILE, FreeWith<sf_close>> file(sf_open_virtual(&calls, SFM_WRITE, &info, &audio));
  // Why it could not be opened is in a variable of the whole process, which threads write without a lock.
  if (!file)
    return fail(Fault::unsupported, "cannot be made " + as.name + ": libsndfile does not write that at " +
                                        std::to_string(rate.value) + " Hz");
  const auto frames = static_cast<sf_count_t>(pcm.size());
  if (sf_writef_short(file.get(), pcm.data(), frames) != frames)
    return fail(Fault::unsupported, "cannot be made " + as.name + ": " + sf_strerror(file.get()));
  // The last frames go out as it is closed.
  if (const int error = sf_close(file.release()); error != 0)
    return fail(Fault::unsupported, "cannot be made " + as.name + " to its end: " + sf_error_number(error));
  return audio.take();
}

}  // namespace

std::vector<std::int16_t> pcm_of(std::span<const float> samples) {
  constexpr float kMost = 32767;
  std::vector<std::int16_t> pcm;
  pcm.reserve(samples.size());
  for (const float sample : samples)
    pcm.push_back(static_cast<std::int16_t>(std::lround(std::clamp(sample, -1.0F, 1.0F) * kMost)));
  return pcm;
}

std::string wav_bytes(std::span<const std::int16_t> pcm, Hertz rate, std::string_view software) {
  std::string bytes = wav_header(static_cast<std::uint32_t>(pcm.size_bytes()), rate, software);
  return bytes.append(reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes());
}

std::string streamed_wav_header(Hertz rate) {
  return wav_header(kUnknownLength, rate, {});
}

Result<std::string> audio_bytes(std::span<const std::int16_t> pcm, AudioFormat format, Hertz rate) {
  return format == AudioFormat::wav ? wav_bytes(pcm, rate) : encoded_bytes(pcm, encoding_of(format), rate);
}

Result<void> write_audio(const std::filesystem::path& path, std::span<const std::int16_t> pcm, AudioFormat format,
                         Hertz rate) {
  const auto bytes = audio_bytes(pcm, format, rate);
  if (!bytes) return fail_in(path.string(), bytes.error());
  const OwnedFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file) return fail_errno(path.string(), "could not be created");
  return write_all(file.get(), std::as_bytes(std::span(*bytes)), path.string());
}

}  // namespace tutti
