#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "view/top/top_data.h"
#include "view/top/top_state.h"

namespace tutti {

/// Where `tutti top` looks.
class TopSource {
 public:
  virtual ~TopSource() = default;

  /// What there is now. Does not wait for a driver; an error is shown and asked again.
  virtual Result<TopData> look() = 0;
  /// Does something to the run; the answer is for people.
  virtual Result<std::string> act(const TopWish& wish) = 0;
};

/// The machine itself, by telemetry; no batch, and nothing to do to it. Waits a moment for the first readings.
std::unique_ptr<TopSource> machine_source();

}  // namespace tutti
