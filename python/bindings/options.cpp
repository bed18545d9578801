#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "parts.h"
#include "transcribe/speech_options.h"

namespace nb = nanobind;

namespace tutti::python {

/// Binds a number that may be none in C++, and is `otherwise` here.
template <class Number>
void bind_number(nb::class_<DecodingOptions>& options, const char* name, std::optional<Number> DecodingOptions::*field,
                 Number otherwise) {
  options.def_prop_rw(
      name, [=](const DecodingOptions& own) { return (own.*field).value_or(otherwise); },
      [=](DecodingOptions& own, Number value) { own.*field = value; });
}

// The fields and their defaults are those of the headers.
void add_options(nb::module_& module) {
  nb::class_<VadOptions>(module, "VadOptions")
      .def(nb::init<>())
      .def_rw("threshold", &VadOptions::threshold)
      .def_rw("neg_threshold", &VadOptions::neg_threshold, nb::arg().none())
      .def_rw("min_speech_duration_ms", &VadOptions::min_speech_duration_ms)
      .def_rw("max_speech_duration_s", &VadOptions::max_speech_duration_s)
      .def_rw("min_silence_duration_ms", &VadOptions::min_silence_duration_ms)
      .def_rw("speech_pad_ms", &VadOptions::speech_pad_ms);
  nb::class_<WordRules>(module, "WordRules")
      .def(nb::init<>())
      .def_rw("prepend_punctuations", &WordRules::prepend_punctuations)
      .def_rw("append_punctuations", &WordRules::append_punctuations)
      .def_rw("hallucination_silence_threshold", &WordRules::hallucination_silence_threshold, nb::arg().none());
  nb::class_<LongFormOptions>(module, "LongFormOptions")
      .def_rw("language", &LongFormOptions::language, nb::arg().none())
      .def_rw("translate", &LongFormOptions::translate)
      .def_rw("temperatures", &LongFormOptions::temperatures)
      .def_rw("compression_ratio_threshold", &LongFormOptions::compression_ratio_threshold, nb::arg().none())
      .def_rw("logprob_threshold", &LongFormOptions::logprob_threshold, nb::arg().none())
      .def_rw("no_speech_threshold", &LongFormOptions::no_speech_threshold, nb::arg().none())
      .def_rw("condition_on_previous_text", &LongFormOptions::condition_on_previous_text)
      .def_rw("initial_prompt", &LongFormOptions::initial_prompt)
      .def_rw("carry_initial_prompt", &LongFormOptions::carry_initial_prompt)
      .def_rw("clip_timestamps", &LongFormOptions::clip_timestamps)
      .def_rw("without_timestamps", &LongFormOptions::without_timestamps)
      .def_rw("words", &LongFormOptions::words, nb::arg().none())
      .def_rw("hot_words", &LongFormOptions::hot_words)
      .def_rw("prefix", &LongFormOptions::prefix)
      .def_rw("sample_len", &LongFormOptions::sample_len, nb::arg().none());
  nb::class_<DecodingOptions> decoding(module, "DecodingOptions");
  bind_number(decoding, "best_of", &DecodingOptions::best_of, 1);
  bind_number(decoding, "beam_size", &DecodingOptions::beam_size, 0);
  bind_number(decoding, "patience", &DecodingOptions::patience, 1.0);
  bind_number(decoding, "length_penalty", &DecodingOptions::length_penalty, -1.0);
  decoding.def_rw("suppress_tokens", &DecodingOptions::suppress_tokens)
      .def_rw("suppress_blank", &DecodingOptions::suppress_blank)
      .def_rw("timestamps", &DecodingOptions::timestamps)
      .def_rw("max_initial_timestamp", &DecodingOptions::max_initial_timestamp)
      .def_rw("seed", &DecodingOptions::seed);
  nb::class_<SpeechOptions>(module, "SpeechOptions")
      .def(nb::init<>())
      .def_rw("vad", &SpeechOptions::vad, nb::arg().none())
      .def_rw("batched", &SpeechOptions::batched)
      .def_rw("long_form", &SpeechOptions::long_form)
      .def_rw("decoding", &SpeechOptions::decoding);
}

}  // namespace tutti::python
