#include "transcribe/file_transcription.h"

#include "transcribe/mel_source.h"

namespace tutti {

Result<TranscribedFile> transcribe_file(const DecodedFile& file, float maximum, const TranscriptionContext& context) {
  RecordingMel mels(context.log_mel, file.recording, maximum);
  RemoteWindows windows(context.windows, mels);
  LongFormInput input = context.model;
  input.content_frames = LogMel::content_frames(file.recording);
  auto transcript =
      transcribe_long_form(input, context.windows.tokenizer, context.rules, windows,
                           [&](const std::vector<Segment>& fresh, std::int64_t seek) {
                             context.on_progress(file.index, length_of(seek * kHopSamples, kModelRate), fresh);
                           });
  if (!transcript) return tl::unexpected(transcript.error());
  return transcribed(file, std::move(*transcript), windows.costs());
}

TranscribedFile transcribed(const DecodedFile& file, Transcript transcript, const WindowCosts& costs) {
  TranscribedFile done{.started = file.started, .transcript = std::move(transcript)};
  done.outcome = {.index = file.index,
                  .input = file.input,
                  .duration = file.recording.duration(),
                  .language = done.transcript.language,
                  .losses = file.recording.losses(),
                  .windows = costs.windows,
                  .decodings = costs.decodings,
                  .decoder_steps = costs.decoder_steps,
                  .narrow_margins = costs.narrow_margins,
                  .spent = costs.spent};
  done.outcome.spent += file.spent;
  return done;
}

}  // namespace tutti
