#include <sndfile.h>

#include <algorithm>
#include <array>
#include <vector>

#include "audio/audio_header.h"
#include "audio/audio_source.h"
#include "audio/virtual_file.h"
#include "base/owned.h"

namespace tutti {
namespace {

constexpr sf_count_t kBlockFrames = 1 << 14;

/// How samples of a subtype leave us: as FFmpeg's decoder for the same file hands them over.
struct SampleKind {
  AVSampleFormat format = AV_SAMPLE_FMT_NONE;
  int bytes = 0;  // size of a PCM sample in the file
};

SampleKind kind_of(const SF_INFO& info) {
  const bool flac = (info.format & SF_FORMAT_TYPEMASK) == SF_FORMAT_FLAC;
  switch (info.format & SF_FORMAT_SUBMASK) {
    case SF_FORMAT_PCM_U8: return {AV_SAMPLE_FMT_U8, 1};
    case SF_FORMAT_PCM_S8: return {flac ? AV_SAMPLE_FMT_S16 : AV_SAMPLE_FMT_U8, 1};
    case SF_FORMAT_PCM_16: return {AV_SAMPLE_FMT_S16, 2};
    case SF_FORMAT_PCM_24: return {AV_SAMPLE_FMT_S32, 3};
    case SF_FORMAT_PCM_32: return {AV_SAMPLE_FMT_S32, 4};
    case SF_FORMAT_FLOAT: return {AV_SAMPLE_FMT_FLT, 4};
    default: return {};
  }
}

class SndfileSource final : public AudioSource {
 public:
  SndfileSource(ByteSource& bytes, const AudioHeader& header)
      : header_(header), file_(bytes, header.container == Container::flac) {}

  bool open();
  Result<bool> next(AudioBlock& block) override;
  /// Nothing to compare: whatever falls short was an error already.
  std::optional<AudioPromise> promised() const override { return {}; }

 private:
  bool is_plain() const;
  sf_count_t read_block();

  AudioHeader header_;
  VirtualFile file_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, FreeWith<sf_close>> audio_;
  SampleKind kind_;
  AVChannelLayout layout_{};
  std::vector<std::int32_t> samples_;  // PCM samples of whatever type, 32 bits at most
  const std::uint8_t* plane_ = nullptr;
  sf_count_t frames_ = 0;
};

bool SndfileSource::open() {
  SF_VIRTUAL_IO calls = VirtualFile::calls();
  audio_.reset(sf_open_virtual(&calls, SFM_READ, &info_, &file_));
  if (!audio_ || !is_plain()) return false;
  kind_ = kind_of(info_);
  constexpr AVChannelLayout kMono = AV_CHANNEL_LAYOUT_MONO, kStereo = AV_CHANNEL_LAYOUT_STEREO;
  layout_ = info_.channels == 1 ? kMono : kStereo;
  samples_.resize(static_cast<std::size_t>(kBlockFrames * info_.channels));
  plane_ = reinterpret_cast<const std::uint8_t*>(samples_.data());
  return true;
}

bool SndfileSource::is_plain() const {
  const int type = info_.format & SF_FORMAT_TYPEMASK;
  if (type != SF_FORMAT_WAV && type != SF_FORMAT_AIFF && type != SF_FORMAT_FLAC) return false;
  const SampleKind kind = kind_of(info_);
  if (kind.format == AV_SAMPLE_FMT_NONE || info_.channels < 1 || info_.channels > 2 || info_.samplerate < 1)
    return false;
  if (type == SF_FORMAT_FLAC) return true;
  const std::int64_t frame_bytes = info_.channels * kind.bytes;
  return header_.claimed_bytes == header_.present_bytes && header_.present_bytes / frame_bytes == info_.frames;
}

sf_count_t SndfileSource::read_block() {
  switch (kind_.format) {
    case AV_SAMPLE_FMT_FLT:
      return sf_readf_float(audio_.get(), reinterpret_cast<float*>(samples_.data()), kBlockFrames);
    case AV_SAMPLE_FMT_S32: return sf_readf_int(audio_.get(), samples_.data(), kBlockFrames);
    default: return sf_readf_short(audio_.get(), reinterpret_cast<short*>(samples_.data()), kBlockFrames);
  }
}

Result<bool> SndfileSource::next(AudioBlock& block) {
  const sf_count_t got = read_block();
  if (sf_error(audio_.get()) != SF_ERR_NO_ERROR) return fail(Fault::corrupt, sf_strerror(audio_.get()));
  if (file_.unreadable()) return fail(Fault::corrupt, "the file cannot be read");
  if (got == 0) {
    const auto promised = header_.container == Container::flac ? header_.frames : info_.frames;
    if (frames_ < promised) return fail(Fault::corrupt, "the file ends early");
    return false;
  }
  if (kind_.format == AV_SAMPLE_FMT_U8) {
    // Read as 16 bits, handed on as the 8 they were: libswresample rounds the two differently.
    const auto* wide = reinterpret_cast<const short*>(samples_.data());
    auto* narrow = reinterpret_cast<std::uint8_t*>(samples_.data());
    for (sf_count_t i = 0; i < got * info_.channels; ++i) narrow[i] = static_cast<std::uint8_t>((wide[i] >> 8) + 128);
  }
  frames_ += got;
  block = {kind_.format, Hertz{info_.samplerate}, &layout_, &plane_, static_cast<int>(got)};
  return true;
}

}  // namespace

std::unique_ptr<AudioSource> open_with_sndfile(ByteSource& bytes) {
  const auto header = read_audio_header(bytes);
  if (!header) return nullptr;
  const Container kind = header->container;
  if (kind != Container::wav && kind != Container::aiff && kind != Container::flac) return nullptr;
  auto source = std::make_unique<SndfileSource>(bytes, *header);
  return source->open() ? std::move(source) : nullptr;
}

}  // namespace tutti
