#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/units.h"

namespace tutti {

/// Why a device has nothing in flight. name_of is its name in reports.
enum class Idle {
  no_job,           ///< nothing is left to do
  input,            ///< jobs are left, and none has its input ready
  memory,           ///< memory of the device or of this machine
  cap,              ///< --max-per-gpu, --threads or the decoders
  fault,            ///< the breaker, a lost or quarantined GPU, a worker that was lost and starts again
  starting,         ///< its first worker is loading the model
  left_to_faster,   ///< faster devices finish what is left sooner than this one could
  drained,          ///< an operator requested that, for the device or for the whole run
  disk_full,        ///< there is no space for the transcripts
  not_writable,     ///< the folder for it may not be written to
  stalled,          ///< another device held what was left, and nothing came of it there
  put_off,          ///< what is left has failed and is to be tried again later, or another run works on it
  awaiting_answer,  ///< a question about a failure waits for its answer, and nothing is begun meanwhile
};
inline constexpr std::size_t kIdleReasons = static_cast<std::size_t>(Idle::awaiting_answer) + 1;

/// As reports and the store's history write it: "waiting_for_input".
std::string_view name_of(Idle why);

/// Time in which a device had nothing in flight, by reason. Plain data.
class IdleTime {
 public:
  IdleTime() = default;
  /// No time for the reasons that are not among `parts`.
  IdleTime(std::initializer_list<std::pair<Idle, Seconds>> parts);

  Seconds& operator[](Idle why) { return parts_[static_cast<std::size_t>(why)]; }
  Seconds operator[](Idle why) const { return parts_[static_cast<std::size_t>(why)]; }
  Seconds sum() const;
  /// The reasons that took time, by name.
  std::map<std::string, Seconds> by_name() const;

 private:
  std::array<Seconds, kIdleReasons> parts_{};
};

}  // namespace tutti
