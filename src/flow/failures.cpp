#include "flow/failures.h"

#include <exception>
#include <new>

namespace tutti {

void Failures::skip(const StageError& failure) {
  on_skip_.with([&](const OnSkip& see) {
    if (see) see(failure);
  });
}

void Failures::stop(Error error) {
  first_.with([&](std::optional<Error>& first) {
    if (!first) first = std::move(error);
  });
  if (stop_) stop_();
}

Error error_of_exception(const std::string& stage) {
  const std::string what = "stage '" + stage + "' threw an exception";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {Fault::exhausted, "stage '" + stage + "': memory ran out"};
  } catch (const std::exception& e) {
    return {Fault::internal, what + ": " + e.what()};
  } catch (...) {
    return {Fault::internal, what + " that is no std::exception"};
  }
}

}  // namespace tutti
