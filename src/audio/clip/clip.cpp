#include "audio/clip/clip.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "audio/audio_header.h"
#include "audio/audio_source.h"
#include "audio/containers/mp3.h"
#include "audio/joined.h"
#include "audio/virtual_file.h"
#include "base/owned.h"
#include "base/try.h"

namespace tutti {
namespace {

/// A file as libsndfile opens it.
class Reading {
 public:
  explicit Reading(ByteSource& bytes) : file_(bytes) {}

  bool open() {
    SF_VIRTUAL_IO calls = VirtualFile::calls();
    audio_.reset(sf_open_virtual(&calls, SFM_READ, &info_, &file_));
    return audio_ && info_.samplerate > 0 && info_.channels > 0;
  }
  SNDFILE* audio() const { return audio_.get(); }
  const SF_INFO& info() const { return info_; }
  ClipFacts facts() const { return {Hertz{info_.samplerate}, info_.channels, info_.frames}; }
  bool unreadable() const { return file_.unreadable(); }

 private:
  VirtualFile file_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, FreeWith<sf_close>> audio_;
};

tl::unexpected<Error> unknown_format() {
  return fail(Fault::unsupported, "not a format that libsndfile reads (WAV, AIFF, FLAC, MP3, Ogg and their like)");
}

/// Damage that libsndfile would read over in silence.
Result<void> check_whole(ByteSource& bytes) {
  if (bytes.size() == 0) return fail(Fault::corrupt, "the file is empty");
  const auto header = read_audio_header(bytes);
  if (header && header->present_bytes < header->claimed_bytes)
    return fail(Fault::corrupt, "truncated: its header promises " + std::to_string(header->claimed_bytes) +
                                    " bytes of samples, " + std::to_string(header->present_bytes) + " are there");
  if (const auto rest = header ? unclaimed_rest(*header) : std::nullopt) return fail(Fault::corrupt, *rest);
  if (const auto broken = broken_ending(bytes)) return fail(Fault::corrupt, *broken);
  return {};
}

std::size_t words_for(const NativeClip& clip, std::int64_t samples) {
  return static_cast<std::size_t>((samples * bytes_of_sample(clip) + 1) / 2);
}

/// The whole of an undamaged WAV, AIFF or FLAC file; none for any other.
Result<std::optional<NativeClip>> decode_plain(ByteSource& bytes) {
  const auto source = open_with_sndfile(bytes);
  if (!source) return std::nullopt;
  NativeClip clip;
  clip.storage.reserve(static_cast<std::size_t>(bytes.size() + 1) / 2);  // samples of a WAV or AIFF file, and its head
  AudioBlock block;
  std::size_t bytes_held = 0;
  for (;;) {
    const auto more = TRY(source->next(block));
    if (!more) break;
    const int channels = block.layout->nb_channels;
    clip.format = block.format;
    const auto size =
        static_cast<std::size_t>(block.frames) * static_cast<std::size_t>(channels * bytes_of_sample(clip));
    clip.storage.resize((bytes_held + size + 1) / 2);
    std::memcpy(reinterpret_cast<std::byte*>(clip.storage.data()) + bytes_held, block.planes[0], size);
    bytes_held += size;
    clip.facts = {block.rate, channels, clip.facts.frames + block.frames};
  }
  if (clip.facts.frames == 0) return fail(Fault::corrupt, "holds no sound: not one sample follows its header");
  return clip;
}

/// Frames that could be read of those in the clip's facts. Memory follows what is there: a damaged header can promise
/// more than the machine has.
std::int64_t read_frames(Reading& file, NativeClip& clip) {
  const std::int64_t block = std::max<std::int64_t>(1, (std::int64_t{1} << 21) / clip.facts.channels);
  const auto format = static_cast<AVSampleFormat>(clip.format);
  std::int64_t got = 0;
  while (got < clip.facts.frames) {
    const std::int64_t wanted = std::min(block, clip.facts.frames - got);
    const std::size_t held = words_for(clip, got * clip.facts.channels);
    clip.storage.resize(words_for(clip, (got + wanted) * clip.facts.channels));
    std::int16_t* const to = clip.storage.data() + held;
    const sf_count_t read = format == AV_SAMPLE_FMT_S16
                                ? sf_readf_short(file.audio(), to, wanted)
                                : sf_readf_float(file.audio(), reinterpret_cast<float*>(to), wanted);
    got += std::max<sf_count_t>(read, 0);
    if (read < wanted) break;
  }
  return got;
}

Result<NativeClip> decode_part(ByteSource& bytes, const ClipRange& range) {
  Reading file(bytes);
  if (!file.open()) return unknown_format();
  const SF_INFO& info = file.info();
  const Hertz rate{info.samplerate};
  TRY(check_range(range, file.facts().length()));
  const std::int64_t first =
      std::clamp<std::int64_t>(samples_in(range.start.value_or(Seconds(0)), rate), 0, info.frames);
  const std::int64_t last =
      range.end ? std::clamp<std::int64_t>(samples_in(*range.end, rate), first, info.frames) : info.frames;
  if (first > 0 && sf_seek(file.audio(), first, SEEK_SET) != first)
    return fail(Fault::corrupt, "cannot be read from second " + std::to_string(range.start->count()) + " on");
  NativeClip clip{{rate, info.channels, last - first}, AV_SAMPLE_FMT_FLT, {}};
  if ((info.format & SF_FORMAT_SUBMASK) == SF_FORMAT_PCM_16) clip.format = AV_SAMPLE_FMT_S16;
  const std::int64_t got = read_frames(file, clip);
  if (file.unreadable()) return fail(Fault::corrupt, "the file cannot be read");
  if (got < clip.facts.frames)
    return fail(Fault::corrupt, "ends early: " + std::to_string(clip.facts.frames) + " samples promised, " +
                                    std::to_string(got) + " could be decoded");
  if (got == 0) return fail(Fault::corrupt, "holds no audio between the requested times");
  return clip;
}

}  // namespace

Result<void> check_range(const ClipRange& range, Seconds length) {
  if (!range.end || *range.end <= length + range.slack) return {};
  char text[96];
  std::snprintf(text, sizeof text, "lasts %.2f s, and is requested up to second %.2f", length.count(),
                range.end->count());
  return fail(Fault::corrupt, text);
}

int bytes_of_sample(const NativeClip& clip) {
  return clip.format == AV_SAMPLE_FMT_U8 ? 1 : clip.format == AV_SAMPLE_FMT_S16 ? 2 : 4;
}

NativeClip native_clip(std::vector<std::int16_t> pcm) {
  const std::int64_t frames = std::ssize(pcm);
  return {{kModelRate, 1, frames}, AV_SAMPLE_FMT_S16, std::move(pcm)};
}

Result<ClipFacts> clip_facts(ByteSource& bytes) {
  if (bytes.size() == 0) return fail(Fault::corrupt, "the file is empty");
  Reading file(bytes);
  if (!file.open()) return unknown_format();
  return file.facts();
}

Result<NativeClip> decode_clip(ByteSource& bytes, const ClipRange& range) {
  if (first_recording(bytes, range.is_whole()).next < bytes.size())
    return fail(Fault::unsupported, "several recordings follow each other in it, and libsndfile reads the first");
  if (range.is_whole()) {  // first, for it is what most clips are, and to search them for frames of MP3 takes long
    auto plain = TRY(decode_plain(bytes));
    if (plain) return std::move(*plain);
  }
  if (mp3_counts_wrong(bytes))
    return fail(Fault::unsupported, "its header is wrong about its length, and libsndfile would stop there");
  TRY(check_whole(bytes));
  return decode_part(bytes, range);
}

}  // namespace tutti
