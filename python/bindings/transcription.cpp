#include "transcription.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {

void add_transcription(nb::module_& module) {
  using Self = OwnedTranscription;
  nb::class_<Self>(module, "Transcription", nb::is_weak_referenceable())
      .def("facts", [](Self& self) { return call([own = self.get()] { return own->work.facts(no_signal); }); })
      .def("next", [](Self& self) { return call([own = self.get()] { return own->work.next(no_signal); }); })
      .def("json",
           [](Self& self) { return transcript_json(call([own = self.get()] { return own->work.whole(no_signal); })); })
      .def("close", &Self::close);
}

}  // namespace tutti::python
