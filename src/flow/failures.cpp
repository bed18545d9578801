#include "flow/failures.h"

#include <exception>
#include <new>

namespace tutti {
namespace {

Error out_of_memory(const std::string& stage) {
  try {
    return {Fault::exhausted, "stage '" + stage + "': memory ran out",
            "Take fewer threads or less at once, or let this process have more memory (ulimit -v)"};
  } catch (const std::bad_alloc&) {
    return {Fault::exhausted, "memory ran out"};  // so short that it needs none
  }
}

}  // namespace

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
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return out_of_memory(stage);
  } catch (const std::exception& e) {
    return {Fault::internal, "stage '" + stage + "' threw an exception: " + e.what()};
  } catch (...) {
    return {Fault::internal, "stage '" + stage + "' threw an exception that is no std::exception"};
  }
}

}  // namespace tutti
