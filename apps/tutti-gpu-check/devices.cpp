#include <ATen/ATen.h>

#include <algorithm>

#include "base/numbers.h"
#include "checks.h"
#include "model/gpu.h"

namespace tutti {
namespace {

constexpr std::int64_t kCopied = 1 << 20;  // numbers of float32

/// All that this process sees of that kind, `device` first.
std::vector<at::Device> devices_like(at::Device device) {
  std::vector<at::Device> all{device};
  for (int index = 0; device.is_cuda() && index < gpu::count(); ++index) {
    if (index != device.index()) all.emplace_back(at::kCUDA, static_cast<c10::DeviceIndex>(index));
  }
  return all;
}

std::string name_of(at::Device device) {
  if (device.is_cpu()) return device.str();
  const auto facts = gpu::facts(device.index());
  if (!facts) return device.str() + ", which does not answer: " + facts.error().what;
  return device.str() + ", " + facts->name + ", " + facts->uuid + ", " + gigabytes_text(facts->memory);
}

/// That `numbers` come back as they were from a way over these devices, in that order.
void check_way(Report& report, const std::string& what, const at::Tensor& numbers, std::span<const at::Device> way) {
  auto copy = numbers;
  for (const auto device : way) copy = copy.to(device, copy.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
  const auto back = copy.to(at::kCPU);
  report.add({.check = "device",
              .what = what,
              .value = static_cast<double>((back != numbers).sum().item<std::int64_t>()),
              .unit = "numbers that differ",
              .passed = at::equal(back, numbers)});
}

void check_pair(Report& report, const at::Tensor& numbers, at::Device one, at::Device other) {
  report.add({.check = "device",
              .what = "peer access, " + one.str() + " to " + other.str(),
              .value = gpu::can_access(one.index(), other.index()) ? 1.0 : 0.0,
              .unit = "directly (0: over the host)"});
  const at::Device way[] = {one, other, one};
  check_way(report, one.str() + " to " + other.str() + " and back", numbers, way);
}

}  // namespace

void check_device(Report& report, at::Device device, const CheckOptions&) {
  const auto all = devices_like(device);
  at::manual_seed(20251121);
  const auto numbers = at::randn({kCopied});
  for (const auto one : all) {
    report.note(name_of(one));
    report.attempt("device", one.str(), [&] { check_way(report, one.str() + " and back", numbers, {&one, 1}); });
  }
  if (all.size() < 2) return report.note("peer access: this process sees one device, so there is no pair");
  for (const auto one : all) {
    for (const auto other : all) {
      if (one != other) report.attempt("device", "a pair", [&] { check_pair(report, numbers, one, other); });
    }
  }
}

}  // namespace tutti
