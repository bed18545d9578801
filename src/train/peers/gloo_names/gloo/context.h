#pragma once
// Torch's library contains Gloo, but its package lacks Gloo's headers, which torch's ProcessGroupGloo.hpp includes. The
// files in gloo_names declare the names that header uses. It holds Gloo's objects by pointer only, so nothing here has
// a layout that could differ, and nothing here is ever created or called by us.
#include <chrono>

namespace gloo {
class Context {
 public:
  void setTimeout(std::chrono::milliseconds timeout);
};
}  // namespace gloo
