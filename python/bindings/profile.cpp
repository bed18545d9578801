#include "public/tutti/profile.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "calls.h"
#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {
namespace {

/// It watches the machine from a thread, which a forked child, such as a DataLoader's worker, does not have.
using OwnedLoop = Owned<LoopProfile>;

/// Of time.monotonic(), which is the same clock.
Clock::Instant instant_of(double seconds) {
  return Clock::Instant(std::chrono::duration_cast<Clock::Instant::duration>(Seconds(seconds)));
}

}  // namespace

void add_profile(nb::module_& module) {
  nb::class_<PredictedRate>(module, "PredictedRate")
      .def_ro("change", &PredictedRate::change)
      .def_ro("items_per_s", &PredictedRate::items_per_s)
      .def_ro("low", &PredictedRate::low)
      .def_ro("high", &PredictedRate::high);
  nb::class_<RunProfile>(module, "RunProfile")
      .def_static(
          "read",
          [](const std::filesystem::path& recording) { return call([&] { return RunProfile::read(recording); }); })
      .def("unit", &RunProfile::unit)
      .def("items_per_s", &RunProfile::items_per_s)
      .def("limit", &RunProfile::limit)
      .def("finding", &RunProfile::finding, nb::call_guard<nb::gil_scoped_release>())
      .def("gains", &RunProfile::gains)
      .def("predict",
           [](const RunProfile& self, const std::string& change) { return call([&] { return self.predict(change); }); })
      .def("text", &RunProfile::text, nb::call_guard<nb::gil_scoped_release>())
      .def("json", &RunProfile::json, nb::call_guard<nb::gil_scoped_release>());
  nb::class_<OwnedLoop>(module, "LoopProfile")
      .def("__init__", [](OwnedLoop* self, std::string unit) { new (self) OwnedLoop(LoopProfile(std::move(unit))); })
      .def("note", [](const OwnedLoop& self, const std::string& phase, double start,
                      double end) { self.get()->note(phase, instant_of(start), instant_of(end)); })
      .def("profile", [](const OwnedLoop& self) { return call([own = self.get()] { return own->profile(); }); });
}

}  // namespace tutti::python
