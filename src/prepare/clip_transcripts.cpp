#include "prepare/clip_transcripts.h"

#include <cstddef>
#include <utility>

#include "audio/synth/audio_file.h"
#include "base/build_id.h"
#include "base/temporary_folder.h"
#include "base/try.h"
#include "feed/labelled/audio_reading.h"
#include "transcribe/run.h"

namespace tutti {
namespace {

/// Keeps the text of every file, and the first error that is no file's own.
class TextCollector final : public RunObserver {
 public:
  TextCollector(std::size_t files, const std::function<void(std::int64_t, std::int64_t)>& progress)
      : progress_(progress), texts_(files) {}

  void on_done(const FileOutcome& outcome, const Transcript& transcript) override {
    texts_[outcome.index] = transcript.text;
    count();
  }
  void on_failed(std::size_t, const Error& error) override {
    if (!error_ && !is_fault_of_file(error)) error_ = error;
    count();
  }

  const std::optional<Error>& error() const { return error_; }
  ClipTexts take() { return std::move(texts_); }

 private:
  void count() { progress_(++done_, std::ssize(texts_)); }

  const std::function<void(std::int64_t, std::int64_t)>& progress_;
  ClipTexts texts_;
  std::int64_t done_ = 0;
  std::optional<Error> error_{};
};

/// The file that holds a clip and nothing else: its own, or one in `folder`. Of a clip that cannot be read: its own,
/// which then fails as it should.
Result<std::filesystem::path> file_of(const VoiceSource& clip, const ChildDecoder& children,
                                      const std::filesystem::path& folder, std::size_t index) {
  if (!clip.start && !clip.end) return clip.audio;
  ClipRange range;
  if (clip.start) range.start = Seconds(*clip.start);
  if (clip.end) range.end = Seconds(*clip.end);
  const auto read = read_labelled_audio(clip.audio, children, range);
  if (!read)
    return is_fault_of_file(read.error()) ? Result<std::filesystem::path>(clip.audio) : tl::unexpected(read.error());
  const auto path = folder / (std::to_string(index) + ".wav");
  TRY(write_audio(path, pcm_of(read->audio.samples), AudioFormat::wav, read->audio.rate));
  return path;
}

TranscribeOptions options_of(const ClipRecogniser& recogniser) {
  TranscribeOptions options;
  options.build_id = build_id();
  options.model = recogniser.model;
  options.threads = recogniser.threads;
  options.deterministic = true;  // which clips are left out must not depend on their neighbours
  options.long_form.language = recogniser.language;
  options.long_form.temperatures = {0};
  options.long_form.condition_on_previous_text = false;
  return options;
}

}  // namespace

Result<ClipTexts> transcribe_clips(const ClipRecogniser& recogniser, std::span<const VoiceSource* const> clips,
                                   StopSignal& stop, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const TemporaryFolder temporary;
  const auto folder = TRY(temporary.path());
  const ChildDecoder children;
  std::vector<PlannedFile> files;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    auto file = TRY(file_of(*clips[i], children, folder, i));
    files.push_back({.input = std::move(file), .outputs = {}});
  }
  TextCollector texts(files.size(), progress);
  const auto ran = run_transcription(files, options_of(recogniser), texts, stop);
  if (stop.raised()) return fail(Fault::cancelled, "interrupted");
  if (!ran) return tl::unexpected(ran.error());
  if (texts.error()) return tl::unexpected(*texts.error());
  return texts.take();
}

}  // namespace tutti
