#include "transcribe/file_transcription.h"

#include <algorithm>
#include <span>

#include "base/try.h"
#include "diarize/rttm.h"
#include "transcribe/mel_source.h"
#include "transcribe/speech_chunks.h"
#include "transcript/clips.h"

namespace tutti {

namespace {

/// The part of a file that is transcribed, and how to map its times back to the recording's.
class SpeechAudio {
 public:
  explicit SpeechAudio(const SequentialFile& file)
      : recording_(file.decoded.recording),
        packed_(file.speech ? std::optional<PackedRecording>(std::in_place, recording_, *file.speech) : std::nullopt),
        map_(file.speech && !file.speech->empty() ? std::optional<SpeechMap>(*file.speech) : std::nullopt) {}

  const SampleReader& samples() const { return packed_ ? static_cast<const SampleReader&>(*packed_) : recording_; }
  Seconds position(std::int64_t seek) const {
    const Seconds end = length_of(seek * kHopSamples, kModelRate);
    return map_ ? map_->end(end) : end;
  }
  std::vector<Segment> restored(std::vector<Segment> segments) const {
    if (map_) restore_times(segments, *map_);
    return segments;
  }

 private:
  const Recording& recording_;
  std::optional<PackedRecording> packed_;
  std::optional<SpeechMap> map_;
};

/// The first frame that is not before the audio begins.
std::int64_t first_audio_of(const Recording& recording) {
  const auto& gaps = recording.gaps();
  return gaps.empty() || gaps.front().start > 0 ? 0 : (gaps.front().end + kHopSamples / 2) / kHopSamples;
}

/// How much of the recording is in the clips; what two of them share is transcribed twice, and counts so.
Seconds within(std::span<const double> clips, const Recording& recording) {
  const std::int64_t all = LogMel::content_frames(recording);
  const auto found = clips_from(clips, all);
  std::int64_t frames = found ? 0 : all;
  if (found)
    for (const Clip& clip : *found) frames += std::max<std::int64_t>(0, clip.end - clip.start);
  // A whole recording may end with less than a frame.
  return frames == all ? recording.duration() : length_of(frames * kHopSamples, kModelRate);
}

}  // namespace

Result<TranscribedFile> transcribe_file(const SequentialFile& file, const TranscriptionContext& context) {
  const SpeechAudio audio(file);
  RecordingMel mels(context.log_mel, audio.samples(), file.maximum);
  RemoteWindows windows(context.windows, mels);
  LongFormInput input = context.model;
  input.content_frames = LogMel::content_frames(audio.samples());
  LongFormOptions rules = context.rules;
  if (!file.clips.empty()) rules.clip_timestamps = file.clips;
  if (!file.speech) {
    const Recording& recording = file.decoded.recording;
    rules.clip_timestamps = clips_with_audio(rules.clip_timestamps, recording.gaps(), recording.samples());
    input.first_audio = first_audio_of(recording);
  }
  auto transcript = TRY(transcribe_long_form(
      input, context.windows.tokenizer, rules, windows, [&](const std::vector<Segment>& fresh, std::int64_t seek) {
        context.on_progress(file.decoded.index, audio.position(seek), audio.restored(fresh));
      }));
  transcript.segments = audio.restored(std::move(transcript.segments));
  return transcribed(file.decoded, context.way, std::move(transcript), windows.costs());
}

Result<std::string> format_output(const TranscribedFile& file, Format format, const WriterOptions& options) {
  if (format == Format::rttm) return rttm_text(file.outcome.input.stem().string(), file.turns);
  return format_transcript(file.transcript, format, options);
}

TranscribedFile transcribed(const DecodedFile& file, const TranscriptionMode& way, Transcript transcript,
                            const WindowCosts& costs) {
  TranscribedFile done{.started = file.started, .transcript = std::move(transcript)};
  done.outcome = {.index = file.index,
                  .input = file.input,
                  .duration = file.recording.duration(),
                  .requested = within(way.clips, file.recording),
                  .language = done.transcript.language,
                  .counts = costs.counts,
                  .spent = costs.spent};
  done.outcome.spent += file.spent;
  return done;
}

}  // namespace tutti
