#pragma once

#include <memory>
#include <utility>

#include "calls.h"
#include "public/tutti/whisper_model.h"

namespace tutti::python {

/// A transcription, and the model that it needs as long as it is there.
struct RunningTranscription {
  RunningTranscription(std::shared_ptr<WhisperTranscriber> of, RecordingInput recording, SpeechOptions options)
      : model(std::move(of)), work(model->transcribe(std::move(recording), std::move(options))) {}

  std::shared_ptr<WhisperTranscriber> model;
  Transcription work;
};

using OwnedModel = Owned<WhisperTranscriber>;
using OwnedTranscription = Owned<RunningTranscription>;

}  // namespace tutti::python
