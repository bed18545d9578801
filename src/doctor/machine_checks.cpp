#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/field_names.h"
#include "base/files.h"
#include "base/numbers.h"
#include "device/cgroup.h"
#include "device/machine.h"
#include "doctor/checks.h"
#include "jobs/sqlite/local_disk.h"
#include "view/text.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// A ten-hour recording decoded to disk takes 1.2 GB; several may wait for a device.
constexpr Bytes kLeastFreeDisk{5'000'000'000};
/// The store of a hundred thousand recordings takes some 100 MB; transcripts wait there while their own disk is full.
constexpr Bytes kLeastFreeState{1'000'000'000};
/// Sockets, pipes and windows of a worker, and files in work: some 100 descriptors per device; 16 devices.
constexpr std::uint64_t kLeastOpenFiles = 1024, kEnoughOpenFiles = 4096;

/// `setting`: what names another folder.
void check_folder(const std::string& what, const FolderFacts& folder, Bytes least, const std::string& setting,
                  Findings& findings) {
  if (!folder.free) return findings.broken(what, folder.free.error().what, folder.free.error().hint);
  const std::string found = folder.path.string() + ": " + bytes_text(*folder.free) + " free";
  if (!folder.writable)
    return findings.broken(what, found + ", but not ours to write to", "Point " + setting + " at a folder of yours");
  if (*folder.free < least)
    return findings.broken(what, found, "Free some space, or point " + setting + " at a larger disk");
  findings.good(what, found);
}

std::optional<std::uint64_t> limit_of(rlim_t limit) {
  return limit == RLIM_INFINITY ? std::nullopt : std::optional<std::uint64_t>(limit);
}

}  // namespace

void check_processor(Findings& findings) {
  const CpuFacts cpu = read_cpu();
  std::string features;
  for (const auto& feature : cpu.features) features += " " + feature;
  findings.good("processor", cpu.model.value_or("unknown") + ", " + std::to_string(cpu.cores) + " of " +
                                 std::to_string(cpu.machine_cores) + " cores for us," + features);
  if (const auto memory = read_memory())
    findings.good("memory", bytes_text(memory->total) + ", " + bytes_text(memory->available) + " available");
}

ProcessLimits ProcessLimits::of_this_process() {
  ProcessLimits limits;
  if (struct rlimit files{}; ::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    limits.open_files = limit_of(files.rlim_cur);
    limits.most_open_files = limit_of(files.rlim_max);
  }
  if (struct rlimit locked{}; ::getrlimit(RLIMIT_MEMLOCK, &locked) == 0)
    if (const auto bytes = limit_of(locked.rlim_cur)) limits.locked_memory = Bytes{static_cast<std::int64_t>(*bytes)};
  return limits;
}

void check_limits(const ProcessLimits& limits, Findings& findings) {
  const auto files = limits.open_files;
  const std::string many = files ? std::to_string(*files) + " open files" : "any number of open files";
  const bool can_rise = !limits.most_open_files || *limits.most_open_files >= kEnoughOpenFiles;
  const std::string rise = can_rise ? "ulimit -n " + std::to_string(kEnoughOpenFiles)
                                    : "Raise 'nofile' in /etc/security/limits.conf or LimitNOFILE= of the service";
  if (files && *files < kLeastOpenFiles)
    findings.broken("limits", many + ": too few for several devices at once", rise);
  else if (files && *files < kEnoughOpenFiles)
    findings.note("limits", many + ": enough for some ten devices", rise);
  else
    findings.good("limits", many);
  // For reading only: what CUDA pins is not counted.
  if (limits.locked_memory)
    findings.good("limits", bytes_text(*limits.locked_memory) + " of locked memory outside CUDA");
  const CgroupLimits group = read_cgroup_limits("/");
  if (group.cores) findings.note("cgroup", short_number(*group.cores) + " cores of processor time");
  if (group.memory)
    findings.note("cgroup",
                  bytes_text(*group.memory) + " of memory, " +
                      (group.memory_available ? bytes_text(*group.memory_available) + " of it left" : "use unknown"));
}

FolderFacts FolderFacts::of(const fs::path& path) {
  FolderFacts facts{.path = path};
  const auto space = disk_space(path);
  if (!space) {
    facts.free = tl::unexpected(space.error());
    return facts;
  }
  facts.free = space->free;
  facts.on_network = network_file_system(space->existing);
  const auto ours = [](const fs::path& file) { return ::access(file.c_str(), W_OK) == 0 || errno == ENOENT; };
  facts.writable = ours(space->existing) && ours(path / "tutti.sqlite");
  return facts;
}

void check_disks(Findings& findings) {
  const fs::path temporary = temporary_folder();
  std::error_code ignored;
  if (fs::is_directory(temporary, ignored))  // Tutti does not make this one, as it does the others
    check_folder("temporary", FolderFacts::of(temporary), kLeastFreeDisk, "TMPDIR", findings);
  else
    findings.broken("temporary", temporary.string() + ": there is no such folder",
                    "Make it, or point TMPDIR at another");
  check_folder("cache", FolderFacts::of(cache_folder()), kLeastFreeDisk, "TUTTI_CACHE", findings);
}

void check_state(const FolderFacts& state, Findings& findings) {
  const std::string setting = "TUTTI_STATE or " + field("state");
  if (state.on_network)
    return findings.broken("state", state.path.string() + ": on " + *state.on_network + ", where locks do not hold",
                           "Point " + setting + " at a folder on a disk of this machine");
  check_folder("state", state, kLeastFreeState, setting, findings);
}

}  // namespace tutti
