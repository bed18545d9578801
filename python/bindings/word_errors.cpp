#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "calls.h"
#include "parts.h"
#include "public/tutti/audio.h"

namespace nb = nanobind;

namespace tutti::python {

void add_word_errors(nb::module_& module) {
  nb::enum_<TextNormalizer>(module, "TextNormalizer")
      .value("none", TextNormalizer::none)
      .value("english", TextNormalizer::english)
      .value("basic", TextNormalizer::basic);
  nb::class_<WordErrors>(module, "WordErrors")
      .def_ro("wer", &WordErrors::wer)
      .def_ro("cer", &WordErrors::cer)
      .def_ro("words", &WordErrors::words)
      .def_ro("substitutions", &WordErrors::substitutions)
      .def_ro("insertions", &WordErrors::insertions)
      .def_ro("deletions", &WordErrors::deletions);
  module.def("word_errors", [](const std::vector<std::string>& references, const std::vector<std::string>& hypotheses,
                               TextNormalizer normalizer) {
    return call([&] { return word_errors(references, hypotheses, normalizer); });
  });
}

}  // namespace tutti::python
