#include "device/telemetry/gpu_table.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tutti {
namespace {

constexpr int kLatchedAfter = 5;  // rounds: a real process may die within one
constexpr Seconds kPcieStale{30};
/// A GPU with less in use is unused; where `reserved` is not listed separately, it is in there too.
constexpr Bytes kIdle{256 << 20}, kIdleWithReserve{1 << 30};

bool is_latched(const GpuSnapshot& gpu) {
  const Bytes most = gpu.memory.reserved ? kIdle : kIdleWithReserve;
  return gpu.utilisation.gpu == 1.0 && gpu.processes && gpu.processes->empty() && gpu.memory.used &&
         *gpu.memory.used < most;
}

std::string whole_seconds(Seconds time) {
  return std::to_string(static_cast<long long>(time.count())) + " s";
}

}  // namespace

void GpuTable::on_query(int reader, std::string_view uuid, Instant now) {
  open_queries_.insert_or_assign(reader, OpenQuery{std::string(uuid), now});
}

bool GpuTable::may_query(int reader, std::string_view uuid) const {
  return std::none_of(open_queries_.begin(), open_queries_.end(),
                      [&](const auto& each) { return each.first != reader && each.second.uuid == uuid; });
}

bool GpuTable::is_overdue(int reader, Instant now) const {
  const auto found = open_queries_.find(reader);
  return found != open_queries_.end() && now - found->second.since > patience_;
}

void GpuTable::answered(GpuSnapshot gpu) {
  Entry& entry = entries_[gpu.uuid];
  if (gpu.state == GpuState::lost) {
    const std::string reason = gpu.reason;
    entry.values = std::move(gpu);
    return lose(entry, reason);
  }
  entry.latched = is_latched(gpu) ? entry.latched + 1 : 0;
  if (entry.latched >= kLatchedAfter) {
    gpu.utilisation = {};
    gpu.utilisation.doubt = "reports 100 % with no process and no memory in use";
  }
  entry.values = std::move(gpu);
}

/// Keeps what the GPU is, forgets what it did.
void GpuTable::lose(Entry& entry, const std::string& reason) {
  GpuSnapshot lost{.uuid = entry.values.uuid, .pci_bus_id = entry.values.pci_bus_id, .name = entry.values.name};
  lost.state = GpuState::lost;
  lost.reason = reason;
  lost.memory.total = entry.values.memory.total;
  lost.errors.recovery_action = entry.values.errors.recovery_action;
  entry.values = std::move(lost);
  entry.latched = 0;
}

void GpuTable::xid(std::string_view uuid, int code, std::chrono::system_clock::time_point when) {
  const auto found = entries_.find(uuid);
  Entry& entry = found == entries_.end() ? entries_[std::string(uuid)] : found->second;
  if (entry.values.uuid.empty()) entry.values.uuid = uuid;
  XidCount& count = entry.xids[code];
  ++count.count;
  count.last = when;
}

void GpuTable::pcie(std::string_view uuid, const GpuPcie& measured, Instant when) {
  const auto found = entries_.find(uuid);
  if (found == entries_.end()) return;
  found->second.measured = measured;
  found->second.measured_at = when;
}

void GpuTable::finished(const GpuRound& round) {
  source_ = round.source;
  driver_ = round.driver;
  notes_ = round.notes;
  for (auto& [uuid, entry] : entries_)
    if (std::find(round.uuids.begin(), round.uuids.end(), uuid) == round.uuids.end())
      lose(entry, "the driver no longer lists it");
}

void GpuTable::failed(const Error& error) {
  notes_ = {error.text()};
  // While a query of the driver as a whole is still open, it hangs: values then age, and are not lost.
  if (std::any_of(open_queries_.begin(), open_queries_.end(),
                  [](const auto& each) { return each.second.uuid.empty(); }))
    return;
  source_.clear();
  for (auto& [uuid, entry] : entries_) lose(entry, error.what);
}

/// How long the answer of this GPU is overdue.
std::optional<Seconds> GpuTable::waited_for(std::string_view uuid, Instant now) const {
  std::optional<Seconds> longest;
  for (const auto& [reader, query] : open_queries_)
    if (query.uuid == uuid && now - query.since > patience_)
      longest = std::max(longest.value_or(Seconds(0)), Seconds(now - query.since));
  return longest;
}

GpuSnapshot GpuTable::shown(Entry& entry, Instant now) const {
  GpuSnapshot gpu = entry.values;
  auto waited = waited_for(gpu.uuid, now);
  const auto age = gpu.age(now);
  // The driver as a whole may hang while another source still gives fresh values.
  if (!waited && gpu.state == GpuState::ok && (!age || *age > patience_)) waited = waited_for("", now);
  if (waited) {
    gpu.state = GpuState::hung;
    gpu.reason = "the driver has not answered for " + whole_seconds(*waited);
  }
  if (entry.is_new || gpu.state != entry.shown) entry.since = now;
  entry.is_new = false;
  entry.shown = gpu.state;
  gpu.since = entry.since;
  if (!entry.xids.empty()) gpu.errors.xids = entry.xids;
  if (entry.measured_at && now - *entry.measured_at < kPcieStale && gpu.state != GpuState::lost) {
    gpu.pcie.sent = entry.measured.sent;
    gpu.pcie.received = entry.measured.received;
  }
  return gpu;
}

std::vector<GpuSnapshot> GpuTable::gpus(Instant now) {
  std::vector<GpuSnapshot> all;
  for (auto& [uuid, entry] : entries_) all.push_back(shown(entry, now));
  const auto index_order = [](const GpuSnapshot& gpu) {
    return std::tuple(gpu.index.value_or(std::numeric_limits<int>::max()), std::string_view(gpu.uuid));
  };
  std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return index_order(a) < index_order(b); });
  return all;
}

std::vector<std::string> GpuTable::notes(Instant now) const {
  auto notes = notes_;
  if (const auto waited = waited_for("", now))
    notes.push_back("the NVIDIA driver has not answered for " + whole_seconds(*waited));
  return notes;
}

}  // namespace tutti
