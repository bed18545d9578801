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

  /// What there is now. Does not wait for a driver; an error is shown, and the call is made again.
  virtual Result<TopData> look() = 0;
  /// Does something to the run; the answer is for people.
  virtual Result<std::string> act(const TopAction& action) = 0;
};

/// The latest running batch of this user that answers; where there is none, the machine by telemetry.
std::unique_ptr<TopSource> top_source();

}  // namespace tutti
