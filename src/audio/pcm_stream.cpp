#include "audio/pcm_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/field_names.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kLongestHeader = 1 << 20;
constexpr std::uint32_t kNoSize = 0x7FFFFF00;  // this or more: a stream whose length was not known

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i)
    number |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * static_cast<unsigned>(i));
  return number;
}

bool is_at(std::span<const std::byte> bytes, std::size_t at, const char* name) {
  return std::memcmp(bytes.data() + at, name, 4) == 0;
}

AVSampleFormat sample_format(const WavFormat& format) {
  if (format.is_float) return AV_SAMPLE_FMT_FLT;
  if (format.bits == 8) return AV_SAMPLE_FMT_U8;
  return format.bits == 16 ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_S32;
}

}  // namespace

PcmStream::PcmStream(std::string name, TakePcm take)
    : name_(std::move(name)), take_(std::move(take)), resampler_(take_) {}

PcmStream::PcmStream(std::string name, Hertz rate, TakePcm take) : PcmStream(std::move(name), std::move(take)) {
  format_ = WavFormat{.rate = rate, .channels = 1, .bits = 16};
}

PcmStream::~PcmStream() = default;

Result<void> PcmStream::feed(std::span<const std::byte> bytes) {
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  if (!format_) {
    const auto complete = TRY(read_header());
    if (!complete) return {};
  }
  auto size = std::ssize(pending_);
  if (format_->bytes) size = std::min(size, *format_->bytes - taken_);
  size -= size % format_->bytes_of_frame();
  if (size > 0) {
    taken_ += size;
    if (auto pushed = push(std::span(pending_).first(static_cast<std::size_t>(size))); !pushed) return pushed;
  }
  if (format_->bytes && taken_ >= *format_->bytes)
    pending_.clear();  // what follows the samples
  else
    pending_.erase(pending_.begin(), pending_.begin() + size);
  return {};
}

Result<void> PcmStream::finish() {
  if (format_) return resampler_.finish();
  if (pending_.empty()) return fail(Fault::corrupt, name_ + ": expected a WAV, found nothing: it ended at once");
  return fail(Fault::corrupt, name_ + ": expected a WAV, found its end within the header, behind " +
                                  std::to_string(pending_.size()) + " bytes");
}

Seconds PcmStream::missing() const {
  if (!format_ || !format_->bytes) return Seconds(0);
  return length_of((*format_->bytes - taken_) / format_->bytes_of_frame(), format_->rate);
}

/// True: the header is complete, and `pending_` begins with samples.
Result<bool> PcmStream::read_header() {
  constexpr std::size_t kRiff = 12, kChunk = 8;
  if (pending_.size() < kRiff) return false;
  const bool is_wav = (is_at(pending_, 0, "RIFF") || is_at(pending_, 0, "RF64")) && is_at(pending_, 8, "WAVE");
  if (!is_wav)
    return fail(Fault::corrupt, name_ + ": expected a WAV, found other bytes",
                "Name the rate of bare 16-bit samples with " + field("rate") +
                    ", or have ffmpeg write one: ffmpeg -i SOURCE -f wav -");
  WavFormat found;
  for (;;) {
    if (pending_.size() > kLongestHeader)
      return fail(Fault::corrupt, name_ + ": expected samples within the first MiB, found none");
    if (pending_.size() < chunk_at_ + kChunk) return false;
    const std::size_t size = number_at(pending_, chunk_at_ + 4, 4);
    if (is_at(pending_, chunk_at_, "data")) {
      if (found.channels == 0)
        return fail(Fault::corrupt, name_ + ": expected a format before the samples, found none");
      if (size > 0 && size < kNoSize) found.bytes = static_cast<std::int64_t>(size);
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(chunk_at_ + kChunk));
      format_ = found;
      return true;
    }
    const std::size_t next = chunk_at_ + kChunk + size + size % 2;
    if (next > kLongestHeader)
      return fail(Fault::corrupt, name_ +
                                      ": expected samples within the first MiB, found a part of the header that is " +
                                      std::to_string(size) + " bytes long");
    if (is_at(pending_, chunk_at_, "fmt ")) {
      constexpr std::size_t kFormat = 16, kExtended = 26;
      if (pending_.size() < next) return false;
      const std::size_t at = chunk_at_ + kChunk;
      std::uint32_t tag = size >= kFormat ? number_at(pending_, at, 2) : 0;
      constexpr std::uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
      if (tag == kExtensible && size >= kExtended) tag = number_at(pending_, at + 24, 2);
      if (size >= kFormat)
        found = {.rate = Hertz{static_cast<int>(std::min(number_at(pending_, at + 4, 4), 1U << 30))},
                 .channels = static_cast<int>(number_at(pending_, at + 2, 2)),
                 .bits = static_cast<int>(number_at(pending_, at + 14, 2)),
                 .is_float = tag == kFloat};
      const bool is_known = tag == kPcm ? found.bits == 8 || found.bits == 16 || found.bits == 24 || found.bits == 32
                                        : tag == kFloat && found.bits == 32;
      constexpr int kMostChannels = 64;
      if (!is_known || found.channels < 1 || found.channels > kMostChannels || found.rate.value < 1)
        return fail(Fault::unsupported,
                    name_ + ": expected a WAV of 8 to 32-bit samples, found format " + std::to_string(tag) + ", " +
                        std::to_string(found.bits) + " bits, " + std::to_string(found.channels) + " channels, " +
                        std::to_string(found.rate.value) + " Hz",
                    "Have ffmpeg convert it: ffmpeg -i SOURCE -f wav -");
    } else if (pending_.size() < next) {
      return false;
    }
    chunk_at_ = next;
  }
}

Result<void> PcmStream::push(std::span<const std::byte> frames) {
  const WavFormat& format = *format_;
  AVChannelLayout layout{};
  layout.nb_channels = format.channels;
  if (format.channels <= 2) {
    layout.order = AV_CHANNEL_ORDER_NATIVE;
    layout.u.mask = format.channels == 1 ? AV_CH_LAYOUT_MONO : AV_CH_LAYOUT_STEREO;
  }
  std::vector<std::int32_t> aligned;  // also what 24 bits become
  const std::size_t count = frames.size() / static_cast<std::size_t>(format.bits / 8);
  if (format.bits == 24) {
    constexpr std::size_t kBytes = 3;
    aligned.resize(count);
    for (std::size_t i = 0; i < count; ++i)
      aligned[i] = static_cast<std::int32_t>(number_at(frames, i * kBytes, kBytes) << 8);
  } else {
    aligned.resize((frames.size() + 3) / 4);
    std::memcpy(aligned.data(), frames.data(), frames.size());
  }
  const auto* plane = reinterpret_cast<const std::uint8_t*>(aligned.data());
  return resampler_.push({.format = sample_format(format),
                          .rate = format.rate,
                          .layout = &layout,
                          .planes = &plane,
                          .frames = static_cast<int>(count / static_cast<std::size_t>(format.channels))});
}

}  // namespace tutti
