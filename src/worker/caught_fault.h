#pragma once

#include "base/error.h"

namespace tutti {

/// What an exception out of torch means for the worker.
struct CaughtFault {
  Error error{};
  bool out_of_memory = false;  // less at once may succeed
  bool fatal = false;          // the device's state is lost (CUDA errors are sticky): only a new process helps
};

/// Classifies the exception being handled; call it inside a catch block. The text is the first line of torch's, behind
/// `doing`.
CaughtFault caught_fault(const char* doing);

}  // namespace tutti
