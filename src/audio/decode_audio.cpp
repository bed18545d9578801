#include "audio/decode_audio.h"

#include <cmath>
#include <optional>

#include "audio/audio_header.h"
#include "audio/joined.h"
#include "audio/losses.h"
#include "audio/resampler.h"
#include "base/field_names.h"
#include "base/numbers.h"
#include "base/try.h"

namespace tutti {
namespace {

/// What one decoder made of the whole file.
struct Run {
  std::int64_t samples = 0;
  Seconds decoded{0};               // counted before the rate is converted, silence in holes included
  std::optional<Error> gave_up{};   // the decoder did, before the end
  std::vector<SampleRange> gaps{};  // from the start of this recording
};

/// Silence before a block, where the file has no audio.
Result<void> push_gap(const AudioBlock& block, Resampler& resampler, Run& run) {
  if (block.silence <= Seconds(0)) return {};
  const auto frames = std::llround(block.silence.count() * block.rate.value);
  const std::int64_t start = samples_in(run.decoded, kModelRate);
  run.decoded += length_of(frames, block.rate);
  run.gaps.push_back({start, samples_in(run.decoded, kModelRate)});
  return resampler.push_silence(block, frames);
}

/// Fails where the sink or the conversion does.
Result<Run> run(AudioSource& source, PcmSink& sink, const AudioChoice& choice, ChannelLoudness& loudness) {
  Run run;
  Resampler resampler(
      [&](std::span<const std::int16_t> pcm) {
        run.samples += static_cast<std::int64_t>(pcm.size());
        return sink.take(pcm);
      },
      choice, choice.channel == 0 ? &loudness : nullptr);
  AudioBlock block;
  for (;;) {
    const auto more = source.next(block);
    if (!more) run.gave_up = more.error();
    if (!more || !*more) break;
    TRY(push_gap(block, resampler, run).and_then([&] { return resampler.push(block); }));
    run.decoded += length_of(block.frames, block.rate);
  }
  loudness.finish();
  return resampler.finish().map([&] { return run; });
}

void note_missing(const std::optional<AudioPromise>& promise, Seconds decoded, Losses& losses) {
  constexpr Seconds kRounding{1e-6};
  if (!promise || decoded >= promise->length - promise->tolerance - kRounding) return;
  losses.add(decoded, "the file promises " + fixed_text(promise->length.count(), 3) + " s of sound, the last " +
                          fixed_text((promise->length - decoded).count(), 3) +
                          " s of it could not be decoded: it is truncated or damaged");
}

/// Bytes that are missing by the file's own structure, whatever FFmpeg makes of it.
void note_missing_bytes(ByteSource& bytes, Seconds decoded, Losses& losses) {
  const auto header = read_audio_header(bytes);
  if (header && header->present_bytes < header->claimed_bytes)
    losses.add(decoded, "the file is truncated: its header promises " + std::to_string(header->claimed_bytes) +
                            " bytes of samples, " + std::to_string(header->present_bytes) + " of them are there");
  if (const auto rest = header ? unclaimed_rest(*header, decoded) : std::nullopt) losses.add(decoded, *rest);
  if (const auto broken = broken_ending(bytes)) losses.add(decoded, *broken);
}

/// The file is to blame, and not a full disk, say.
bool is_its_own(const Error& error) {
  return error.fault == Fault::corrupt || error.fault == Fault::unsupported;
}

/// A file that holds one recording, or one of several that follow each other in a file.
class OneRecording {
 public:
  OneRecording(ByteSource& bytes, const std::string& name, PcmSink& sink, const AudioChoice& choice, std::int64_t first)
      : bytes_(bytes), name_(name), sink_(sink), choice_(choice), first_(first) {}

  Result<DecodedAudio> decode() {
    auto decoded = decode_once();
    if (!decoded) return decoded;
    if (const auto channel = choice_.channel == 0 ? loudness_.better_than_mix() : std::nullopt)
      return decode_channel(*channel);
    constexpr Seconds kWorthSaying{1};
    if (loudness_.cancelled() >= kWorthSaying)
      decoded->notes.push_back(fixed_text(loudness_.cancelled().count(), 0) +
                               " s are silent in the mix, since channels cancel each other out there; " +
                               field("channel") +
                               " N "
                               "transcribes one of them");
    return decoded;
  }

 private:
  Result<DecodedAudio> decode_once() {
    loudness_ = {};
    auto plain = TRY(choice_.track > 1 ? Result<std::optional<DecodedAudio>>(std::nullopt) : decode_plain());
    if (plain) return std::move(*plain);
    return decode_any();
  }

  /// The mix is silent where this one speaks.
  Result<DecodedAudio> decode_channel(int channel) {
    const int channels = loudness_.channels();
    const Seconds cancelled = loudness_.cancelled();
    choice_.channel = channel;
    auto decoded = sink_.cut(first_).and_then([&] { return decode_once(); });
    if (decoded)
      decoded->notes.push_back("channel " + std::to_string(channel) + " of " + std::to_string(channels) +
                               " is transcribed alone: the channels cancel each other out for " +
                               fixed_text(cancelled.count(), 0) + " s, as where one of them is inverted; " +
                               field("channel") + " N|mix chooses otherwise");
    return decoded;
  }

  /// None where libsndfile does not take the file or stumbles over it: the sink is then as before.
  Result<std::optional<DecodedAudio>> decode_plain() {
    const auto source = open_with_sndfile(bytes_);
    if (!source) return std::nullopt;
    const auto ran = TRY(run(*source, sink_, choice_, loudness_));
    if (!ran.gave_up && ran.samples > 0) {
      Losses losses;
      note_missing_bytes(bytes_, ran.decoded, losses);
      return DecodedAudio{.samples = ran.samples, .losses = losses.sentences(), .tracks = {""}};
    }
    loudness_ = {};
    return sink_.cut(first_).map([] { return std::optional<DecodedAudio>(); });
  }

  /// The default track, or where that cannot be decoded the first of the others that can.
  Result<DecodedAudio> decode_any() {
    AudioRemarks remarks;
    auto decoded = decode_track(choice_.track, remarks);
    if (decoded || choice_.track != 0 || !is_its_own(decoded.error())) return decoded;
    const int usual = remarks.track, tracks = static_cast<int>(remarks.tracks.size());
    for (int track = 1; track <= tracks; ++track) {
      if (track == usual) continue;
      TRY(sink_.cut(first_));
      loudness_ = {};
      remarks = {};
      auto other = decode_track(track, remarks);
      if (!other) continue;
      choice_.track = track;
      other->notes.push_back("audio track " + std::to_string(usual) +
                             " is the default one, and cannot be decoded: " + decoded.error().what);
      return other;
    }
    return decoded;
  }

  Result<DecodedAudio> decode_track(int track, AudioRemarks& remarks) {
    Losses& losses = remarks.losses;
    const auto source = TRY(open_with_ffmpeg(bytes_, name_, track, remarks));
    auto ran = TRY(run(*source, sink_, choice_, loudness_));
    if (ran.gave_up) return tl::unexpected<Error>(*ran.gave_up);
    note_missing(source->promised(), ran.decoded - source->lead(), losses);
    note_missing_bytes(bytes_, ran.decoded, losses);
    if (ran.samples > 0)
      return DecodedAudio{.samples = ran.samples,
                          .losses = losses.sentences(),
                          .notes = remarks.notes.sentences(),
                          .gaps = std::move(ran.gaps),
                          .track = remarks.track,
                          .tracks = remarks.tracks};
    const auto sentences = losses.sentences();
    return fail(Fault::corrupt, sentences.empty()
                                    ? "holds no sound: its header is well-formed, but not one sample follows"
                                    : "no sound could be decoded: " + sentences.front());
  }

  ByteSource& bytes_;
  const std::string& name_;
  PcmSink& sink_;
  AudioChoice choice_;
  const std::int64_t first_;  // samples of the sink that are another's
  ChannelLoudness loudness_;
};

/// Several recordings in one file.
class Joined {
 public:
  /// False: it failed for what is no fault of the file's, and so do the others.
  bool add(Result<DecodedAudio> part, std::int64_t begin) {
    if (!part) return add_failed(part.error(), begin);
    const std::string where = found_ == 0 ? "" : "recording " + std::to_string(found_ + 1) + " in the file, ";
    for (auto& loss : part->losses) whole_.losses.push_back(where + loss);
    for (auto& note : part->notes) whole_.notes.push_back(where + note);
    for (const SampleRange& gap : part->gaps)
      whole_.gaps.push_back({whole_.samples + gap.start, whole_.samples + gap.end});
    if (whole_.samples == 0) {
      whole_.track = part->track;
      whole_.tracks = std::move(part->tracks);
    }
    whole_.samples += part->samples;
    ++found_;
    return true;
  }
  std::int64_t samples() const { return whole_.samples; }

  Result<DecodedAudio> result() {
    if (whole_.samples == 0) return tl::unexpected<Error>(*failed_);
    if (found_ > 1)
      whole_.notes.push_back("the file holds " + std::to_string(found_) +
                             " recordings behind one another; all are transcribed, one after the other");
    return std::move(whole_);
  }

 private:
  bool add_failed(const Error& error, std::int64_t begin) {
    const bool goes_on = is_its_own(error);
    if (!goes_on) whole_.samples = 0;
    if (!failed_ || !goes_on) failed_ = error;
    whole_.losses.push_back("at " + position_text(length_of(whole_.samples, kModelRate)) +
                            ": a recording that begins at byte " + std::to_string(begin) +
                            " of the file could not be decoded: " + error.what);
    return goes_on;
  }

  DecodedAudio whole_;
  std::optional<Error> failed_{};
  int found_ = 0;
};

}  // namespace

Result<DecodedAudio> decode_audio(ByteSource& bytes, const std::string& name, PcmSink& sink,
                                  const AudioChoice& choice) {
  if (bytes.size() == 0) return fail(Fault::corrupt, "the file is empty");
  FirstRecording first = first_recording(bytes);
  if (first.end >= bytes.size()) return OneRecording(bytes, name, sink, choice, 0).decode();
  Joined joined;
  for (std::int64_t begin = 0; begin < bytes.size();) {
    PartBytes part(bytes, begin, begin + first.end);
    const std::int64_t before = joined.samples();
    auto decoded = OneRecording(part, name, sink, choice, before).decode();
    const bool is_decoded = decoded.has_value();
    if (!joined.add(std::move(decoded), begin)) break;
    TRY(is_decoded ? Result<void>() : sink.cut(before));
    begin += first.next;
    PartBytes rest(bytes, begin, bytes.size());
    if (begin < bytes.size()) first = first_recording(rest);
  }
  return joined.result();
}

}  // namespace tutti
