#include "train/report/machine_line.h"

#include <algorithm>
#include <cstdio>

namespace tutti {
namespace {

constexpr double kGigabyte = 1e9;  // as everywhere in Tutti, and as vendors count

/// A mean of what is known.
class Mean {
 public:
  void take(std::optional<double> value) {
    if (!value) return;
    sum_ += *value;
    ++count_;
  }
  std::optional<double> value() const { return count_ ? std::optional(sum_ / count_) : std::nullopt; }

 private:
  double sum_ = 0;
  int count_ = 0;
};

std::string share_text(const char* name, double share, int digits) {
  char text[48];
  std::snprintf(text, sizeof text, "%s: %.*f%%", name, digits, 100 * share);
  return text;
}

std::string memory_text(const char* name, Bytes used, Bytes total) {
  const auto u = static_cast<double>(used.value), t = static_cast<double>(total.value);
  char text[80];
  std::snprintf(text, sizeof text, "%s:%.1f/%.1fGB(%.1f%%)", name, u / kGigabyte, t / kGigabyte, 100 * u / t);
  return text;
}

}  // namespace

std::string machine_text(const MachineLoad& load) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " | ") + part; };
  if (load.gpu) add(share_text("GPU", *load.gpu, 0));
  if (load.gpu_used && load.gpu_total) add(memory_text("VRAM", *load.gpu_used, *load.gpu_total));
  if (load.cpu) add(share_text("CPU", *load.cpu, 1));
  if (load.memory_used && load.memory_total) add(memory_text("RAM", *load.memory_used, *load.memory_total));
  return text;
}

const GpuSnapshot* gpu_in(const MachineSnapshot& snapshot, std::optional<int> gpu) {
  if (!gpu) return nullptr;
  const auto found = std::ranges::find(snapshot.gpus, gpu, &GpuSnapshot::cuda_order);
  return found == snapshot.gpus.end() ? nullptr : &*found;
}

MachineLoad memory_load(const MachineSnapshot& snapshot, std::optional<int> gpu) {
  const auto& host = snapshot.host;
  MachineLoad load{.memory_total = host.memory_total};
  if (host.memory_total && host.memory_available)
    load.memory_used = Bytes{host.memory_total->value - host.memory_available->value};
  if (const auto* own = gpu_in(snapshot, gpu)) {
    load.gpu_used = own->memory.used;
    load.gpu_total = own->memory.total;
    load.gpu_own = own->memory.own;
  }
  return load;
}

void MachineLine::take(const std::shared_ptr<const MachineSnapshot>& snapshot) {
  if (!last_.empty() && last_.back()->number == snapshot->number) return;
  last_.push_back(snapshot);
  if (last_.size() > kSnapshots) last_.pop_front();
}

MachineLoad MachineLine::load() const {
  if (last_.empty()) return {};
  Mean gpu, cpu;
  for (const auto& snapshot : last_) {
    cpu.take(snapshot->host.busy);
    if (const auto* own = gpu_in(*snapshot, gpu_)) gpu.take(own->utilisation.gpu);
  }
  MachineLoad load = memory_load(*last_.back(), gpu_);
  load.gpu = gpu.value();
  load.cpu = cpu.value();
  return load;
}

}  // namespace tutti
