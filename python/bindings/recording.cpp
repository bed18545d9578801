#include "public/tutti/recording.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "arrays.h"
#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {

void add_recording(nb::module_& module) {
  nb::class_<RecordingInput>(module, "Recording")
      .def_static("of_samples",
                  [](const Samples& samples, int rate, const std::string& name) {
                    return call([&] { return RecordingInput::of_samples(span_of(samples), Hertz{rate}, name); });
                  })
      .def_static("of_bytes",
                  [](const nb::bytes& bytes, const std::string& name) {
                    return call([&, all = std::span(static_cast<const std::byte*>(bytes.data()), bytes.size())] {
                      return RecordingInput::of_bytes(all, name);
                    });
                  })
      .def_static("of_file", [](const std::filesystem::path& path) {
        return call([&] { return RecordingInput::of_file(path); });
      });
}

}  // namespace tutti::python
