#include "transcript/transcript.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "parts.h"
#include "public/tutti/whisper_model.h"

namespace nb = nanobind;

namespace tutti::python {

void add_transcript(nb::module_& module) {
  nb::class_<Word>(module, "Word")
      .def_ro("start", &Word::start)
      .def_ro("end", &Word::end)
      .def_ro("word", &Word::word)
      .def_ro("probability", &Word::probability);
  nb::class_<Segment>(module, "Segment")
      .def_ro("id", &Segment::id)
      .def_ro("seek", &Segment::seek)
      .def_ro("start", &Segment::start)
      .def_ro("end", &Segment::end)
      .def_ro("text", &Segment::text)
      .def_ro("tokens", &Segment::tokens)
      .def_ro("avg_logprob", &Segment::avg_logprob)
      .def_ro("compression_ratio", &Segment::compression_ratio)
      .def_ro("no_speech_prob", &Segment::no_speech_prob)
      .def_ro("temperature", &Segment::temperature)
      .def_ro("words", &Segment::words);
  nb::class_<RecordingFacts>(module, "RecordingFacts")
      .def_prop_ro("duration", [](const RecordingFacts& facts) { return facts.duration.count(); })
      .def_prop_ro("speech", [](const RecordingFacts& facts) { return facts.speech.count(); })
      .def_prop_ro("language", [](const RecordingFacts& facts) { return facts.spoken.language.code; })
      .def_prop_ro("probability", [](const RecordingFacts& facts) { return facts.spoken.language.probability; })
      .def_prop_ro("languages", [](const RecordingFacts& facts) {
        std::vector<std::pair<std::string, double>> all;
        for (const auto& language : facts.spoken.all) all.emplace_back(language.code, language.probability);
        return all;
      });
}

}  // namespace tutti::python
