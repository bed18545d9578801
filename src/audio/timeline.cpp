#include "audio/timeline.h"

#include <algorithm>
#include <numeric>

#include "base/numbers.h"

namespace tutti {
namespace {

/// What people see of subtitles that come early or late; containers round to a few milliseconds.
constexpr Seconds kShift{0.05};
/// Less before the first frame is a decoder's delay: WMA's first frame bears the stamp of the third packet.
constexpr Seconds kDelay{0.2};
/// A clock that goes back by more has begun again.
constexpr Seconds kBack{1};
/// Holes from here on are reported one by one; transport streams begin their audio later by less as a rule.
constexpr Seconds kLarge{0.5};
/// Transport streams: what jumps by more is another clock (FFmpeg's dts_delta_threshold).
constexpr Seconds kOtherClock{10};
/// Headers round, and the last frame reaches beyond them.
constexpr Seconds kBehindEnd{10};
/// Without an end in the header: a damaged time stamp must not cost a disk.
constexpr Seconds kLongest{6 * 3600};

}  // namespace

bool Timeline::is_believable(Seconds stamp, Seconds drift) const {
  if (drift > kLongest || (rules_.may_restart && drift > kOtherClock)) return false;
  return !rules_.end || stamp <= *rules_.end + kBehindEnd;
}

/// `own`: the audio's own start, by the clock.
Seconds Timeline::first_origin(Seconds own) const {
  const Seconds start = rules_.start.value_or(own);
  return own > start && own - start < kDelay ? own : start;
}

Seconds Timeline::fill(Seconds stamp, Seconds drift) {
  if (!is_believable(stamp, drift)) {
    jumps_.push_back({delivered_, drift});
    restart(stamp);
    return Seconds(0);
  }
  if (delivered_ == Seconds(0)) {
    lead_ = drift;
  } else {
    (drift >= kLarge ? large_ : small_).push_back({delivered_, drift});
  }
  delivered_ += drift;
  return drift;
}

Seconds Timeline::silence_before(std::optional<Seconds> stamp, Seconds length) {
  Seconds silence{0};
  if (stamp && !is_stopped_) {
    if (!origin_) origin_ = first_origin(*stamp - delivered_);
    const Seconds drift = *stamp - *origin_ - delivered_;
    if (drift < -kBack)
      restart(*stamp);
    else if (drift > kShift)
      silence = fill(*stamp, drift);
  }
  delivered_ += length;
  return silence;
}

void Timeline::report(Losses& losses, Losses& notes) const {
  if (lead_ >= kLarge)
    notes.add(Seconds(0), "the audio begins " + fixed_text(lead_.count(), 3) +
                              " s after the picture: silence precedes it, so that times are those of the picture");
  for (const Hole& hole : large_)
    losses.add(hole.at, fixed_text(hole.length.count(), 1) +
                            " s of sound are missing (the time stamps jump); silence replaces them");
  for (const Hole& jump : jumps_)
    losses.add(jump.at, "the time stamps jump by " + fixed_text(jump.length.count(), 1) +
                            " s; times go on without a hole, and may be early from here on");
  if (small_.empty()) return;
  const auto sum = std::accumulate(small_.begin(), small_.end(), Seconds(0),
                                   [](Seconds all, const Hole& hole) { return all + hole.length; });
  notes.add(small_.front().at,
            fixed_text(sum.count(), 2) + " s of sound are missing in " + std::to_string(small_.size()) +
                (small_.size() == 1 ? " small hole" : " small holes, the last at " + position_text(small_.back().at)) +
                " (the time stamps jump); silence replaces them");
}

}  // namespace tutti
