#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/telemetry/gpu_source.h"

namespace tutti {

/// What is known of all GPUs, as the threads that read them report it: which answer, which are being queried and since
/// when, which are gone. Pure: time comes with every call.
class GpuTable {
 public:
  using Instant = Clock::Instant;
  /// `patience`: a call that takes longer makes its GPU `hung`.
  explicit GpuTable(Seconds patience) : patience_(patience) {}

  // What `reader`, a thread's number, is at (see GpuSink).
  void on_query(int reader, std::string_view uuid, Instant now);
  void idle(int reader) { open_queries_.erase(reader); }
  /// Whether no other reader waits for an answer of this GPU, or (empty) of the driver as a whole.
  bool may_query(int reader, std::string_view uuid) const;
  /// Whether `reader` waits longer than patience allows.
  bool is_overdue(int reader, Instant now) const;

  /// Whether some reader waits longer than that for this GPU.
  bool hangs(std::string_view uuid, Instant now) const { return waited_for(uuid, now).has_value(); }

  void answered(GpuSnapshot gpu);
  void xid(std::string_view uuid, int code, std::chrono::system_clock::time_point when);
  void pcie(std::string_view uuid, const GpuPcie& measured, Instant when);
  void finished(const GpuRound& round);
  /// No source could be read; the GPUs that were known count as lost.
  void failed(const Error& error);

  /// All GPUs ever seen: present ones in PCI order, then the lost. States are those of `now`.
  std::vector<GpuSnapshot> gpus(Instant now);
  const std::string& source() const { return source_; }
  const std::optional<std::string>& driver() const { return driver_; }
  std::vector<std::string> notes(Instant now) const;

 private:
  struct Entry {
    GpuSnapshot values{};
    GpuState shown = GpuState::ok;
    Instant since{};
    bool is_new = true;
    int latched = 0;  // rounds in a row with full utilisation and no process
    std::map<int, XidCount> xids{};
    GpuPcie measured{};
    std::optional<Instant> measured_at{};
  };
  struct OpenQuery {
    std::string uuid;
    Instant since;
  };
  void lose(Entry& entry, const std::string& reason);
  std::optional<Seconds> waited_for(std::string_view uuid, Instant now) const;
  GpuSnapshot shown(Entry& entry, Instant now) const;

  Seconds patience_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<int, OpenQuery> open_queries_;
  std::string source_;
  std::optional<std::string> driver_;
  std::vector<std::string> notes_;
};

}  // namespace tutti
