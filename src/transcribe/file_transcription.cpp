#include "transcribe/file_transcription.h"

namespace tutti {

Result<TranscribedFile> transcribe_file(DecodedFile&& file, const TranscriptionContext& context,
                                        const OnPosition& on_position) {
  RemoteWindows windows(context.engine, context.tokenizer, context.log_mel, file.recording, context.decoding);
  if (auto measured = windows.measure(); !measured) return tl::unexpected(measured.error());

  const LongFormInput input{.content_frames = LogMel::content_frames(file.recording),
                            .frames_per_window = context.frames_per_window,
                            .n_text_ctx = context.n_text_ctx};
  auto transcript = transcribe_long_form(input, context.tokenizer, context.rules, windows,
                                         [&](const std::vector<Segment>& fresh, std::int64_t seek) {
                                           on_position(length_of(seek * kHopSamples, kModelRate), fresh);
                                         });
  if (!transcript) return tl::unexpected(transcript.error());

  TranscribedFile done{.started = file.started, .transcript = std::move(*transcript)};
  const WindowCosts& costs = windows.costs();
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
  done.outcome.spent.audio = file.decoding;
  return done;
}

}  // namespace tutti
