#include "cli/flags/speech_flags.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/try.h"
#include "settings/values.h"
#include "transcribe/speech_chunks.h"
#include "transcript/long_form.h"

namespace tutti {

namespace {

Result<void> check_count(const char* flag, std::int32_t found) {
  if (found >= 1 && found <= kMostBeams) return {};
  return fail(Fault::usage, std::string(flag) + ": expected 1 to " + show_value(kMostBeams) + ", or None, found " +
                                show_value(found));
}

Result<void> check_patience(const DecodingOptions& decoding) {
  if (!decoding.patience) return {};
  if (!decoding.beam_size) {
    return fail(Fault::usage, "--patience has no meaning without --beam-size",
                "It sets how many hypotheses of a beam search must have ended");
  }
  const double patience = *decoding.patience;
  if (!(patience > 0 && patience <= kMostPatience)) {
    return fail(Fault::usage, "--patience: expected above 0 and at most " + show_value(kMostPatience) + ", found " +
                                  show_value(patience));
  }
  if (std::nearbyint(*decoding.beam_size * patience) < 1) {
    return fail(Fault::usage, "--patience " + show_value(patience) + " with --beam-size " +
                                  show_value(*decoding.beam_size) + " rounds to no hypothesis at all");
  }
  return {};
}

}  // namespace

void add_search(OptionTable& table, DecodingOptions& decoding) {
  table.add("best-of", decoding.best_of, "N|None", "samples to choose from at a temperature above 0");
  table.add("beam-size", decoding.beam_size, "N|None",
            "hypotheses followed side by side at temperature 0; None: the most probable token each time, much faster");
  table.add("patience", decoding.patience, "X|None",
            "a beam search goes on until N times X hypotheses have ended; None: 1; needs --beam-size");
  table.add("length-penalty", decoding.length_penalty, "X|None",
            "0 to 1: hypotheses rank by log-probability / ((5 + tokens) / 6)^X; None: per token");
  table.add("seed", decoding.seed, "N", "seed of the sampling; the same seed gives the same transcript");
  table.add("suppress-tokens", decoding.suppress_tokens, "IDS", "token ids never sampled; -1: the non-speech symbols");
}

Result<void> check_search(const DecodingOptions& decoding) {
  TRY(check_count("--best-of", decoding.best_of.value_or(1)));
  TRY(check_count("--beam-size", decoding.beam_size.value_or(1)));
  TRY(check_patience(decoding));
  const double penalty = decoding.length_penalty.value_or(0);
  if (!(penalty >= 0 && penalty <= 1)) {
    return fail(Fault::usage, "--length-penalty: expected 0 to 1, or None, found " + show_value(penalty));
  }
  return {};
}

namespace {

/// The first VAD setting that was given, or nothing.
std::string_view given(const VadFlags& f) {
  if (f.threshold) return "--vad-threshold";
  if (f.neg_threshold) return "--vad-neg-threshold";
  if (f.min_speech_duration_ms) return "--vad-min-speech-duration-ms";
  if (f.max_speech_duration_s) return "--vad-max-speech-duration-s";
  if (f.min_silence_duration_ms) return "--vad-min-silence-duration-ms";
  if (f.speech_pad_ms) return "--vad-speech-pad-ms";
  if (f.target_hz) return "--target-hz";
  return f.method == "auto" ? "" : "--vad-method";
}

VadMethod method_of(const VadFlags& f, bool is_keyed) {
  if (f.method == "energy") return VadMethod::energy;
  if (f.method == "keying" || (f.method == "auto" && is_keyed)) return VadMethod::keying;
  return VadMethod::silero;
}

/// Shorter silence is left in.
std::int32_t least_silence(const VadFlags& f, VadMethod method, bool is_keyed) {
  if (f.min_silence_duration_ms) return *f.min_silence_duration_ms;
  if (method == VadMethod::keying) return kKeyedSilenceMs;
  return f.batched || is_keyed ? kBatchedSilenceMs : VadOptions{}.min_silence_duration_ms;
}

/// Every piece of speech has its padding on both sides, and with --batched a piece is no longer than a window.
Result<void> check_padding(const VadFlags& f, std::int32_t pad_ms) {
  constexpr std::int32_t kMost = 14'000;  // two of them leave 2 s of speech in a window of 30 s
  if (!f.batched || pad_ms <= kMost) return {};
  return fail(Fault::usage,
              "--vad-speech-pad-ms: with --batched, expected at most " + std::to_string(kMost) +
                  ", which leave 2 s of a window to speech, found " + std::to_string(pad_ms),
              "Take less, or --vad without --batched");
}

}  // namespace

void add_vad(OptionTable& table, VadFlags& f) {
  table.group("Speech detection");
  table.add_switch(
      "batched", f.batched,
      "cut at silence into windows that know nothing of each other, many at once: fastest, less consistent");
  table.add_switch("vad", f.vad, "leave out what is not speech, as --batched always does; or --vad-filter").alias =
      "vad-filter";
  table
      .add("vad-method", f.method, "METHOD",
           "silero: a small neural network; energy: loudness over the background; keying: words of Morse, for windows "
           "that end between them; auto: keying for a model whose config asks for it, which then needs no --vad, else "
           "silero")
      .choices = {"auto", "silero", "energy", "keying"};
  table.add("vad-threshold", f.threshold, "P|None", "speech begins at this probability; None: 0.5");
  table.add("vad-neg-threshold", f.neg_threshold, "P|None",
            "speech ends below this probability; None: 0.15 less than --vad-threshold, but at least 0.01");
  table.add("vad-min-speech-duration-ms", f.min_speech_duration_ms, "MS|None", "drop shorter speech; None: 0");
  table.add("vad-max-speech-duration-s", f.max_speech_duration_s, "S|None",
            "cut longer speech; None: never, with --batched after a window, with keying after 24");
  table.add("vad-min-silence-duration-ms", f.min_silence_duration_ms, "MS|None",
            "shorter silence is left in; None: 2000, with --batched or a model of Morse 160, with keying 64");
  table.add("vad-speech-pad-ms", f.speech_pad_ms, "MS|None", "kept before and after speech; None: 400");
  table.add("target-hz", f.target_hz, "HZ|None",
            "of several Morse stations, read the one of this pitch, 250 to 1400; None: the loudest");
}

Result<std::optional<VadOptions>> vad_options(const VadFlags& f, const std::vector<double>& clips, bool is_keyed) {
  const VadMethod method = method_of(f, is_keyed);
  if (!f.vad && !f.batched && !is_keyed) {
    if (const auto flag = given(f); !flag.empty())
      return fail(Fault::usage, std::string(flag) + ": nothing is left out without VAD", "Add --vad or --batched");
    return std::nullopt;
  }
  if (!std::is_sorted(clips.begin(), clips.end()))
    return fail(Fault::usage, "--clip-timestamps: with --vad or --batched, expected clips in order that do not overlap",
                "Sort and join them, or leave VAD out");
  const VadOptions defaults;
  const VadOptions options{.method = method,
                           .threshold = f.threshold.value_or(defaults.threshold),
                           .neg_threshold = f.neg_threshold,
                           .min_speech_duration_ms = f.min_speech_duration_ms.value_or(defaults.min_speech_duration_ms),
                           .max_speech_duration_s = f.max_speech_duration_s.value_or(defaults.max_speech_duration_s),
                           .min_silence_duration_ms = least_silence(f, method, is_keyed),
                           .speech_pad_ms = f.speech_pad_ms.value_or(defaults.speech_pad_ms),
                           .target_hz = f.target_hz};
  TRY(check(options));
  TRY(check_padding(f, options.speech_pad_ms));
  return options;
}

}  // namespace tutti
