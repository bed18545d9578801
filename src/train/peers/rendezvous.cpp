#include <algorithm>
#include <string>

#include "base/environment.h"
#include "base/process/process_rank.h"
#include "base/try.h"
#include "train/peers/peers.h"

namespace tutti {
namespace {

bool is_by_slurm() {
  return !variable("WORLD_SIZE");
}

/// With several nodes the first has the first process.
std::string slurm_address(const Rendezvous& usual) {
  if (variable("SLURM_JOB_NUM_NODES").value_or("1") == "1") return usual.address;
  for (const char* list : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (const auto nodes = variable(list)) return first_host(*nodes);
  return usual.address;
}

/// Jobs that share a node must not meet at one port.
int slurm_port(const Rendezvous& usual) {
  constexpr int kFirst = 15000, kPorts = 15000;
  const auto job = number_variable("SLURM_JOB_ID", 0);
  return job ? kFirst + *job % kPorts : usual.port;
}

}  // namespace

std::string first_host(std::string_view nodes) {
  const auto end = std::min(nodes.find_first_of("[,"), nodes.size());
  std::string host(nodes.substr(0, end));
  if (end == nodes.size() || nodes[end] == ',') return host;
  const auto numbers = nodes.substr(end + 1);
  host += numbers.substr(0, numbers.find_first_of("-,]"));
  const auto close = numbers.find(']');
  if (close == std::string_view::npos) return host;
  const auto behind = numbers.substr(close + 1);
  host += behind.substr(0, behind.find(','));
  return host;
}

Result<std::optional<Rendezvous>> rendezvous() {
  const auto mine = TRY(process_rank());
  if (mine.ranks == 1) return std::optional<Rendezvous>();
  Rendezvous rendezvous{.rank = mine.rank, .ranks = mine.ranks};
  if (is_by_slurm()) {
    rendezvous.address = slurm_address(rendezvous);
    rendezvous.port = slurm_port(rendezvous);
  }
  if (const auto address = variable("MASTER_ADDR")) rendezvous.address = *address;
  if (variable("MASTER_PORT")) {
    rendezvous.port = TRY(number_variable("MASTER_PORT", 1));
  }
  return std::optional(rendezvous);
}

Result<std::string> device_of_process(const std::string& device, int visible) {
  const auto mine = TRY(process_rank());
  const char* name = is_by_slurm() ? "SLURM_LOCALID" : "LOCAL_RANK";
  if (device != "cuda" || visible < 2 || mine.ranks == 1 || !variable(name)) return device;
  const auto own = TRY(number_variable(name, 0));
  return "cuda:" + std::to_string(own);
}

}  // namespace tutti
