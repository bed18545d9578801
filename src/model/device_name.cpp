#include "model/device_name.h"

#include <optional>

#include "base/numbers.h"
#include "model/gpu.h"

namespace tutti {
namespace {

/// N of "cuda:N" and of "N", 0 of "cuda".
std::optional<int> cuda_index(std::string_view name) {
  if (name == "cuda") return 0;
  constexpr std::string_view kPrefix = "cuda:";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  const auto index = number_in<int>(name);
  return index && *index >= 0 ? index : std::nullopt;
}

}  // namespace

Result<at::Device> device_named(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  const auto index = cuda_index(name);
  if (!index) return fail(Fault::usage, "device '" + name + "': expected cpu or cuda:N");
  const int seen = gpu::count();
  if (seen == 0)
    return fail(Fault::missing, "device " + name + ": this engine sees no CUDA device",
                "Use cpu, or see what 'tutti doctor' reports about the driver");
  if (*index >= seen)
    return fail(Fault::missing, "device " + name + ": this engine sees " + std::to_string(seen) + " CUDA device" +
                                    (seen > 1 ? "s, cuda:0 to cuda:" + std::to_string(seen - 1) : ", cuda:0"));
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(*index));
}

}  // namespace tutti
