#include <charconv>

#include "base/environment.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

Result<int> number(const char* name, int least) {
  const auto text = variable(name).value_or("");
  int value = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (bad == std::errc() && end == text.data() + text.size() && value >= least) return value;
  return fail(Fault::usage,
              std::string(name) + ": expected a whole number from " + std::to_string(least) + ", found '" + text + "'");
}

}  // namespace

Result<std::optional<MeetingPlace>> meeting_place() {
  const bool torchrun = variable("WORLD_SIZE").has_value();
  if (!torchrun && !variable("SLURM_NTASKS")) return std::optional<MeetingPlace>();
  const auto ranks = number(torchrun ? "WORLD_SIZE" : "SLURM_NTASKS", 1);
  if (!ranks) return tl::unexpected<Error>(ranks.error());
  if (*ranks == 1) return std::optional<MeetingPlace>();
  const char* named = torchrun ? "RANK" : "SLURM_PROCID";
  const auto rank = number(named, 0);
  if (!rank) return tl::unexpected<Error>(rank.error());
  if (*rank >= *ranks)
    return fail(Fault::usage, std::string(named) + " is " + std::to_string(*rank) + " of " + std::to_string(*ranks));
  MeetingPlace place{.rank = *rank, .ranks = *ranks};
  if (const auto address = variable("MASTER_ADDR")) place.address = *address;
  if (variable("MASTER_PORT")) {
    const auto port = number("MASTER_PORT", 1);
    if (!port) return tl::unexpected<Error>(port.error());
    place.port = *port;
  }
  return std::optional(place);
}

}  // namespace tutti
