#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "device/telemetry/gpu_source.h"

namespace tutti {

/// GPUs by the program nvidia-smi (or the one that TUTTI_NVIDIA_SMI names), for machines where NVML cannot be loaded. A
/// run costs tens of milliseconds of processor time, so it runs every 5 s, every 30 s where it fails; it is killed when
/// it takes longer than 5.
class SmiSource final : public GpuSource {
 public:
  Result<GpuRound> read(GpuSink& sink, Clock::Instant now) override;

 private:
  Result<GpuRound> query(GpuSink& sink, Clock::Instant now);

  std::optional<Clock::Instant> queried_at_;
  std::optional<Result<GpuRound>> answer_;
  bool is_old_ = false;  // it knows the basic fields only
};

/// GPUs from the text of `nvidia-smi --query-gpu=FIELDS --format=csv,noheader,nounits`, by the names of its fields. A
/// value in brackets ("[N/A]", "[Not Supported]") is absent; a GPU that is lost has its loss in all its fields.
std::vector<GpuSnapshot> parse_smi(std::string_view text, const std::vector<std::string>& fields,
                                   std::optional<std::string>& driver);

/// Adds the processes that `nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory` lists.
void add_smi_processes(std::string_view text, std::vector<GpuSnapshot>& gpus);

}  // namespace tutti
