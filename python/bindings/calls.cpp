#include "calls.h"

#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace nb = nanobind;

namespace tutti::python {
namespace {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::usage: return "usage";
    case Fault::missing: return "missing";
    case Fault::corrupt: return "corrupt";
    case Fault::unsupported: return "unsupported";
    case Fault::refused: return "refused";
    case Fault::exhausted: return "exhausted";
    case Fault::full: return "full";
    case Fault::unavailable: return "unavailable";
    case Fault::device: return "device";
    case Fault::cancelled: return "cancelled";
    case Fault::internal: break;
  }
  return "internal";
}

}  // namespace

void add_failures(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Failure& failure) {
      const auto fault = name_of(failure.error.fault);
      const nb::object error = nb::module_::import_("tutti.errors")
                                   .attr("of_fault")(nb::str(fault.data(), fault.size()), failure.error.text());
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    }
  });
}

}  // namespace tutti::python
