#include "train/tts/say.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "audio/synth/audio_file.h"
#include "audio/voice/level.h"
#include "audio/voice/loudness.h"
#include "audio/voice/melody.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "base/strings.h"
#include "base/try.h"
#include "device/machine.h"
#include "model/cpu/compute_team.h"
#include "model/device_name.h"
#include "text/speech/front_end.h"
#include "text/speech/sentences.h"
#include "train/tts/speech_times.h"
#include "train/tts/voice.h"

namespace tutti {
namespace {

constexpr double kPause = 0.15;              // seconds between two sentences, beside their own silence
constexpr double kLoudness = -23;            // LUFS: EBU R 128
constexpr Seconds kFade{0.01};               // of a sentence's ends
constexpr double kQuiet = 35;                // decibels below the loudest part: what is softer is silence
constexpr double kRise = 6;                  // semitones that a question for yes or no ends higher
constexpr std::string_view kEnglish = "en";  // whose questions are known
constexpr Seconds kEdge{0.12}, kKept{0.06};  // silence at a text's ends, and what of it is the voice's own

/// All that was spoken.
struct Spoken {
  std::vector<std::int16_t> pcm{};
  SpeechTimes times{};
  std::set<std::string> skipped{};  // characters without a symbol
};

/// Gets samples as they are made.
using TakeSamples = std::function<Result<void>(std::span<const std::int16_t>)>;

/// A sentence's samples behind `pause` samples of silence, and with as much of it as a text's edges should have.
struct Placed {
  std::vector<float> samples{};
  std::int64_t added = 0;  ///< before the sentence's first sample; below 0: so many of its own are cut off
};

/// `pause`: none for the first sentence.
Placed positioned(std::vector<float> samples, Hertz rate, std::optional<std::int64_t> pause, bool is_last) {
  const auto audible = sounding_range(samples, rate, kQuiet);
  const auto kept = samples_in(kKept, rate), edge = samples_in(kEdge, rate);
  const auto own = std::min(audible.start, kept), own_behind = std::min(std::ssize(samples) - audible.end, kept);
  const auto cut = pause ? 0 : audible.start - own, before = pause ? *pause : edge - own;
  if (is_last) samples.resize(static_cast<std::size_t>(audible.end + own_behind));
  samples.erase(samples.begin(), samples.begin() + cut);
  fade_ends(samples, rate, kFade);
  samples.insert(samples.begin(), static_cast<std::size_t>(before), 0.0F);
  if (is_last) samples.resize(samples.size() + static_cast<std::size_t>(edge - own_behind));
  return {std::move(samples), before - cut};
}

/// `range`: of the pitch.
Result<Spoken> speak_all(const Voice& voice, const ReadableSentences& sentences, SpeakingOptions options, double range,
                         const TakeSamples& take) {
  const auto& pieces = sentences.read;
  const auto& mel = voice.model().mel;
  const double rate = mel.rate.value;
  const auto pause = samples_in(Seconds(kPause * options.pauses / options.rate), mel.rate);
  Spoken spoken;
  SentenceLevel level(kLoudness, mel.rate);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    auto speech = TRY(voice.speak(pieces[i], options));
    const bool rises = voice.model().language == kEnglish && sentences.rises[i];
    auto placed = positioned(std::move(speech.samples), mel.rate, i == 0 ? std::nullopt : std::optional(pause),
                             i + 1 == pieces.size());
    // Behind the fades: a period that moves from a sentence's end must not end at full strength.
    placed.samples = with_melody(std::move(placed.samples), mel.rate, {.range = range, .rise = rises ? kRise : 0});
    level.apply(placed.samples);
    const auto begin = std::ssize(spoken.pcm);
    const auto pcm = pcm_of(placed.samples);
    spoken.pcm.insert(spoken.pcm.end(), pcm.begin(), pcm.end());
    const auto from = begin + (i == 0 ? 0 : pause);
    spoken.times.add(pieces[i], speech, voice.front_end().symbols(),
                     {.start = static_cast<double>(begin + placed.added) / rate,
                      .from = static_cast<double>(from) / rate,
                      .until = static_cast<double>(spoken.pcm.size()) / rate,
                      .frame = mel.hop / rate});
    TRY(take(std::span(spoken.pcm).subspan(static_cast<std::size_t>(begin))));
    spoken.skipped.insert(speech.text.skipped.begin(), speech.text.skipped.end());
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
  const auto longer = " of more than " + std::to_string(kLongestSentence) + " characters ";
  if (cut == 1) text += "; a sentence" + longer + "was cut once";
  if (cut > 1) text += "; sentences" + longer + "were cut " + std::to_string(cut) + " times";
  if (!spoken.skipped.empty()) text += "; the voice has no symbol for " + joined(spoken.skipped, " ") + ", left out";
  if (!left_out.empty())
    text += "; sentences in no characters that the voice reads were left out: " + joined(left_out, " ");
  return text;
}

}  // namespace

Result<std::string> say(const SayRequest& request) {
  set_compute_threads(request.threads, read_cpu().cores);
  const auto device = TRY(device_named(request.device));
  const auto voice = TRY(Voice::load(request.voice, device, request.vocoder));
  const auto& model = voice.model();
  const auto speaker =
      TRY(request.speaker.empty() ? Result<std::int64_t>(model.usual_speaker) : model.speaker_named(request.speaker));
  const auto& usual = model.settings[static_cast<std::size_t>(speaker)];
  const auto sentences = split_sentences(request.text, kLongestSentence);
  if (sentences.pieces.empty())
    return fail(Fault::usage, "the text has no letter and no figure: there is nothing to say");
  const auto readable = TRY(readable_sentences(voice.front_end(), sentences));
  const auto rate = model.mel.rate;
  const bool streams = request.streams && readable.read.size() > 1;
  const auto keep_all = [](std::span<const std::int16_t>) { return Result<void>(); };
  const auto spoken = TRY(speak_all(voice, readable,
                                    {.speaker = speaker,
                                     .rate = request.rate,
                                     .seed = request.seed,
                                     .steps = request.steps,
                                     .temperature = request.temperature < 0 ? usual.temperature : request.temperature,
                                     .pauses = request.pauses},
                                    request.pitch_range > 0 ? request.pitch_range : usual.pitch_range,
                                    streams ? stream_to_standard_output(rate) : keep_all));
  // A file is known again by its mark; what goes to a program has the shortest head.
  const auto mark = request.out == "/dev/stdout" ? "" : speech_mark(request.times);
  if (!streams) TRY(write_file_atomically(request.out, wav_bytes(spoken.pcm, rate, mark)));
  if (!request.times.empty()) {
    const bool is_srt = request.times.extension() == ".srt";
    const auto text = is_srt ? times_srt(spoken.times) : times_json(spoken.times);
    TRY(write_file_atomically(request.times, text));
  }
  return report_of(request, sentences.cut, readable.left_out, spoken, rate);
}

}  // namespace tutti
