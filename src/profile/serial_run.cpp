#include "profile/serial_run.h"

#include <algorithm>

#include "base/numbers.h"
#include "base/units.h"

namespace tutti {
namespace {

constexpr Seconds kShortest{2};  // what is shorter is mostly the start

}  // namespace

void SerialRun::note(std::string_view phase, Clock::Instant start, Clock::Instant end) {
  auto found = std::ranges::find(phases_, phase, &PhaseTimes::name);
  if (found == phases_.end()) found = phases_.insert(found, {.name = std::string(phase)});
  found->busy += end - start;
  ++found->count;
  if (!start_) start_ = start;
  end_ = end;
}

std::string SerialRun::finding() const {
  if (!start_ || end_ - *start_ < kShortest) return {};
  const Seconds all = end_ - *start_;
  const auto longest = std::ranges::max_element(phases_, {}, &PhaseTimes::busy);
  const double share = longest->busy / all / 2;  // that is saved where it takes half as long
  return longest->name + " limits the run and costs " + fixed_text(100 * share, 1) + " % of its time; " +
         longest->name + " twice as fast would gain " + fixed_text(100 * (1 / (1 - share) - 1), 0) + " %.";
}

}  // namespace tutti
