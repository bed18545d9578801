#include "base/log.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "parts.h"

namespace nb = nanobind;

namespace tutti::python {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kMostLines = 1000;  // that wait for Python; later ones are lost

/// Never destroyed: threads may log until the process ends.
Guarded<Lines>& waiting() {
  static auto* const lines = new Guarded<Lines>();
  return *lines;
}

}  // namespace

// No thread of ours calls into Python: lines wait for the package, which hands them to the module logging.
void add_log(nb::module_& module) {
  set_log_sink([](Level level, std::string_view text) {
    waiting().with([&](Lines& lines) {
      if (lines.size() < kMostLines) lines.emplace_back(std::string(name_of(level)), std::string(text));
    });
  });
  module.def("take_log", [] { return waiting().with([](Lines& lines) { return std::exchange(lines, {}); }); });
}

}  // namespace tutti::python
