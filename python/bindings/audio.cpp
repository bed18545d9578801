#include "public/tutti/audio.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "arrays.h"
#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {

void add_audio(nb::module_& module) {
  module.def("load_audio", [](const RecordingInput& recording) {
    auto samples = call([&] { return load_audio(recording, no_signal); });
    const std::size_t count = samples.size();
    return numpy_array(std::move(samples), {count});
  });
  module.def("log_mel", [](const Samples& samples, int n_mels, std::int64_t padding) {
    auto mel = call([&] { return log_mel(span_of(samples), n_mels, padding, no_signal); });
    const auto bins = static_cast<std::size_t>(n_mels);
    const std::size_t frames = mel.size() / bins;
    return numpy_array(std::move(mel), {bins, frames});
  });
  module.def("speech_spans", [](const Samples& samples, const VadOptions& options) {
    std::vector<std::pair<std::int64_t, std::int64_t>> spans;
    for (const SpeechSpan& span : call([&] { return speech_spans(span_of(samples), options, no_signal); }))
      spans.emplace_back(span.start, span.end);
    return spans;
  });
}

}  // namespace tutti::python
