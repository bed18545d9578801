#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/telemetry/gpu_snapshot.h"

namespace tutti {

/// Where a source leaves what it reads, GPU by GPU, so that what was read before a call hung is not lost. Thread-safe.
class GpuSink {
 public:
  virtual ~GpuSink() = default;
  /// False for a GPU whose call another thread still waits for: it may not be queried again.
  virtual bool may_query(std::string_view uuid) const = 0;
  /// From now until the next call of this or `idle`, this GPU is being queried (empty: the driver as a whole).
  virtual void on_query(std::string_view uuid) = 0;
  /// No query is open.
  virtual void idle() = 0;
  /// A GPU's values as just read, or its loss (`state` and `reason`).
  virtual void answered(GpuSnapshot gpu) = 0;
  virtual void xid(std::string_view uuid, int code) = 0;
};

/// What a whole round over all GPUs has found.
struct GpuRound {
  std::string source{};                 ///< "nvml" or "nvidia-smi"
  std::optional<std::string> driver{};  ///< version
  std::vector<std::string> uuids{};     ///< all that the driver lists now; who is not among them is lost
  std::vector<std::string> notes{};
};

/// Reads all GPUs once in a while. One thread at a time; its calls may hang for ever.
class GpuSource {
 public:
  virtual ~GpuSource() = default;
  virtual Result<GpuRound> read(GpuSink& sink, Clock::Instant now) = 0;
};

}  // namespace tutti
