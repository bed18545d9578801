#include "base/environment.h"
#include "base/process_rank.h"
#include "train/peers/peers.h"

namespace tutti {

Result<std::optional<MeetingPlace>> meeting_place() {
  const auto mine = process_rank();
  if (!mine) return tl::unexpected<Error>(mine.error());
  if (mine->ranks == 1) return std::optional<MeetingPlace>();
  MeetingPlace place{.rank = mine->rank, .ranks = mine->ranks};
  if (const auto address = variable("MASTER_ADDR")) place.address = *address;
  if (variable("MASTER_PORT")) {
    const auto port = number_variable("MASTER_PORT", 1);
    if (!port) return tl::unexpected<Error>(port.error());
    place.port = *port;
  }
  return std::optional(place);
}

}  // namespace tutti
