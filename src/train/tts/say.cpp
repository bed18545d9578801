#include "train/tts/say.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "audio/synth/audio_file.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "device/machine.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "text/speech/sentences.h"
#include "train/tts/speech_times.h"
#include "train/tts/voice.h"

namespace tutti {
namespace {

constexpr double kPause = 0.15;  // seconds between two sentences, beside their own silence

/// All that was spoken.
struct Spoken {
  std::vector<std::int16_t> pcm{};
  SpeechTimes times{};
  std::set<std::string> skipped{};  // characters without a symbol
};

/// Gets samples as they are made.
using TakeSamples = std::function<Result<void>(std::span<const std::int16_t>)>;

Result<Spoken> speak_all(const Voice& voice, const std::vector<std::string>& pieces, SpeakingOptions options,
                         const TakeSamples& take) {
  const auto& mel = voice.model().mel;
  const double rate = mel.rate.value;
  Spoken spoken;
  for (const auto& piece : pieces) {
    const auto speech = voice.speak(piece, options);
    if (!speech) return tl::unexpected<Error>(speech.error());
    const auto before = spoken.pcm.size();
    const double pause = kPause * options.pauses / options.rate;
    if (before > 0) spoken.pcm.resize(before + static_cast<std::size_t>(pause * rate));
    spoken.times.add(piece, *speech, voice.front_end().symbols(), static_cast<double>(spoken.pcm.size()) / rate,
                     mel.hop / rate);
    const auto pcm = pcm_of(speech->samples);
    spoken.pcm.insert(spoken.pcm.end(), pcm.begin(), pcm.end());
    if (auto taken = take(std::span(spoken.pcm).subspan(before)); !taken) return tl::unexpected<Error>(taken.error());
    spoken.skipped.insert(speech->text.skipped.begin(), speech->text.skipped.end());
    ++options.seed;
  }
  return spoken;
}

/// Writes samples to standard output, behind the header of a stream.
TakeSamples stream_to_standard_output(Hertz rate) {
  return [rate, begun = false](std::span<const std::int16_t> pcm) mutable -> Result<void> {
    constexpr const char* kThing = "standard output";
    if (!std::exchange(begun, true)) {
      const auto header = streamed_wav_header(rate);
      if (auto written = write_all(STDOUT_FILENO, std::as_bytes(std::span(header)), kThing); !written) return written;
    }
    return write_all(STDOUT_FILENO, std::as_bytes(pcm), kThing);
  };
}

std::string report_of(const SayRequest& request, std::size_t cut, const std::vector<std::string>& left_out,
                      const Spoken& spoken, Hertz rate) {
  std::string text =
      request.out.string() + ": " + fixed_text(length_of(std::ssize(spoken.pcm), rate).count(), 2) + " s of speech";
  if (cut > 0)
    text += "; sentences of more than " + std::to_string(kLongestSentence) + " characters were cut at " +
            std::to_string(cut) + " places";
  if (!spoken.skipped.empty()) text += "; the voice has no symbol for " + joined(spoken.skipped, " ") + ", left out";
  if (!left_out.empty())
    text += "; sentences in no characters that the voice reads were left out: " + joined(left_out, " ");
  return text;
}

}  // namespace

Result<std::string> say(const SayRequest& request) {
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = device_named(request.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto voice = Voice::load(request.voice, *device, request.vocoder);
  if (!voice) return tl::unexpected<Error>(voice.error());
  const auto speaker =
      request.speaker.empty() ? Result<std::int64_t>(0) : voice->model().speaker_named(request.speaker);
  if (!speaker) return tl::unexpected<Error>(speaker.error());
  const auto sentences = split_sentences(request.text, kLongestSentence);
  if (sentences.pieces.empty())
    return fail(Fault::usage, "the text has no letter and no figure: there is nothing to say");
  const auto readable = readable_sentences(voice->front_end(), sentences.pieces);
  if (!readable) return tl::unexpected<Error>(readable.error());
  const auto rate = voice->model().mel.rate;
  const bool streams = request.streams && readable->read.size() > 1;
  const auto keep_all = [](std::span<const std::int16_t>) { return Result<void>(); };
  const auto spoken = speak_all(*voice, readable->read,
                                {.speaker = *speaker,
                                 .rate = request.rate,
                                 .seed = request.seed,
                                 .steps = request.steps,
                                 .temperature = request.temperature,
                                 .pauses = request.pauses},
                                streams ? stream_to_standard_output(rate) : keep_all);
  if (!spoken) return tl::unexpected<Error>(spoken.error());
  // A file is known again by its mark; what goes to a program has the shortest head.
  const auto mark = request.out == "/dev/stdout" ? "" : speech_mark(request.times);
  if (!streams)
    if (auto written = write_file_atomically(request.out, wav_bytes(spoken->pcm, rate, mark)); !written)
      return tl::unexpected<Error>(written.error());
  if (!request.times.empty()) {
    const bool is_srt = request.times.extension() == ".srt";
    const auto text = is_srt ? times_srt(spoken->times) : times_json(spoken->times);
    if (auto written = write_file_atomically(request.times, text); !written)
      return tl::unexpected<Error>(written.error());
  }
  return report_of(request, sentences.cut, readable->left_out, *spoken, rate);
}

}  // namespace tutti
