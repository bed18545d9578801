// The extension module tutti._tutti: the public headers (src/public/tutti) for Python, one file a class. What users see
// of it, with types and docstrings, is the package around it (python/tutti).
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <filesystem>
#include <string>

#include "base/build_id.h"
#include "base/program_paths.h"
#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

NB_MODULE(_tutti, module) {
  using namespace tutti::python;
  module.doc() = "Tutti's public headers; the package tutti is their user's side.";
  nb::set_leak_warnings(false);  // a generator may be alive when the process ends
  add_failures(module);
  add_log(module);
  add_recording(module);
  add_options(module);
  add_transcript(module);
  add_transcription(module);
  add_transcriber(module);
  add_audio(module);
  add_word_errors(module);
  add_feed(module);
  add_set_feed(module);
  add_profile(module);
  module.def("build_id", [] { return std::string(tutti::build_id()); });
  module.def("set_programs",
             [](const std::filesystem::path& folder) { tutti::set_program_paths(tutti::ProgramPaths::in(folder)); });
}
