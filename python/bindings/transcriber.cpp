#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>
#include <utility>

#include "parts.h"
#include "transcription.h"

namespace nb = nanobind;

namespace tutti::python {

void add_transcriber(nb::module_& module) {
  nb::class_<OwnedModel>(module, "Transcriber")
      .def_static("load",
                  [](const std::string& model, const std::string& devices, const std::string& compute_type,
                     std::int32_t threads, std::int32_t batch_size) {
                    const WhisperModelOptions options{.model = model,
                                                      .devices = devices,
                                                      .compute_type = compute_type,
                                                      .threads = threads,
                                                      .batch_size = batch_size};
                    return OwnedModel(call([&] { return WhisperTranscriber::load(options, no_signal); }));
                  })
      .def("languages", [](OwnedModel& self) { return self.get()->languages(); })
      // The recording is used up.
      .def("transcribe",
           [](OwnedModel& self, RecordingInput& recording, const SpeechOptions& options) {
             return OwnedTranscription(RunningTranscription(self.get(), std::move(recording), options));
           })
      .def("close", &OwnedModel::close);
}

}  // namespace tutti::python
