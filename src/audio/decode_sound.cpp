#include "audio/decode_sound.h"

#include <optional>

#include "audio/losses.h"
#include "audio/resampler.h"
#include "audio/sound_header.h"
#include "base/numbers.h"

namespace tutti {
namespace {

/// What one decoder made of the whole file.
struct Run {
  std::int64_t samples = 0;
  Seconds heard{0};                // counted before the rate is converted
  std::optional<Error> gave_up{};  // the decoder did, before the end
};

/// Fails where the sink or the conversion does.
Result<Run> run(SoundSource& source, PcmSink& sink) {
  Run run;
  Resampler resampler([&](std::span<const std::int16_t> pcm) {
    run.samples += static_cast<std::int64_t>(pcm.size());
    return sink.take(pcm);
  });
  SoundBlock block;
  for (;;) {
    const auto more = source.next(block);
    if (!more) run.gave_up = more.error();
    if (!more || !*more) break;
    if (auto pushed = resampler.push(block); !pushed) return tl::unexpected<Error>(pushed.error());
    run.heard += length_of(block.frames, block.rate);
  }
  return resampler.finish().map([&] { return run; });
}

void note_missing(const std::optional<SoundPromise>& promise, Seconds heard, Losses& losses) {
  constexpr Seconds kRounding{1e-6};
  if (!promise || heard >= promise->length - promise->tolerance - kRounding) return;
  losses.add(heard, "the file promises " + fixed_text(promise->length.count(), 3) + " s of sound, the last " +
                        fixed_text((promise->length - heard).count(), 3) +
                        " s of it could not be decoded: it is truncated or damaged");
}

/// What the file's own structure says is missing, whatever FFmpeg makes of it.
void note_missing_bytes(ByteSource& bytes, Seconds heard, Losses& losses) {
  const auto header = read_sound_header(bytes);
  if (header && header->present_bytes < header->claimed_bytes)
    losses.add(heard, "the file is truncated: its header promises " + std::to_string(header->claimed_bytes) +
                          " bytes of samples, " + std::to_string(header->present_bytes) + " of them are there");
  if (const auto rest = header ? unclaimed_rest(*header) : std::nullopt) losses.add(heard, *rest);
  if (const auto broken = broken_ending(bytes)) losses.add(heard, *broken);
}

/// None where libsndfile does not take the file or stumbles over it: the sink is then as before.
Result<std::optional<DecodedSound>> decode_plain(ByteSource& bytes, PcmSink& sink) {
  const auto source = open_with_sndfile(bytes);
  if (!source) return std::nullopt;
  const auto ran = run(*source, sink);
  if (!ran) return tl::unexpected<Error>(ran.error());
  if (!ran->gave_up && ran->samples > 0) {
    Losses losses;
    note_missing_bytes(bytes, ran->heard, losses);
    return DecodedSound{ran->samples, losses.sentences()};
  }
  return sink.restart().map([] { return std::optional<DecodedSound>(); });
}

Result<DecodedSound> decode_any(ByteSource& bytes, const std::string& name, PcmSink& sink) {
  Losses losses;
  const auto source = open_with_ffmpeg(bytes, name, losses);
  if (!source) return tl::unexpected<Error>(source.error());
  const auto ran = run(**source, sink);
  if (!ran) return tl::unexpected<Error>(ran.error());
  if (ran->gave_up) return tl::unexpected<Error>(*ran->gave_up);
  note_missing((*source)->promised(), ran->heard, losses);
  note_missing_bytes(bytes, ran->heard, losses);
  if (ran->samples > 0) return DecodedSound{ran->samples, losses.sentences()};
  const auto said = losses.sentences();
  return fail(Fault::corrupt, said.empty() ? "holds no sound: its header is well-formed, but not one sample follows"
                                           : "no sound could be decoded: " + said.front());
}

}  // namespace

Result<DecodedSound> decode_sound(ByteSource& bytes, const std::string& name, PcmSink& sink) {
  if (bytes.size() == 0) return fail(Fault::corrupt, "the file is empty");
  auto plain = decode_plain(bytes, sink);
  if (!plain) return tl::unexpected<Error>(plain.error());
  if (*plain) return std::move(**plain);
  return decode_any(bytes, name, sink);
}

}  // namespace tutti
