#include "base/clock.h"

namespace tutti {
namespace {

class SteadyClock final : public Clock {
 public:
  Instant now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& Clock::real() {
  static const SteadyClock clock;
  return clock;
}

}  // namespace tutti
