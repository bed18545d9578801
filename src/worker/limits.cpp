#include "worker/limits.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>

#include "base/clock.h"
#include "hub/memory_plan.h"
#include "model/compute_type.h"
#include "model/device_name.h"
#include "model/gpu.h"
#include "model/stored/checkpoint.h"
#include "worker/trouble.h"

namespace tutti {
namespace {

constexpr std::int64_t kSide = 2048;                   // of the product: large enough for the device's best
constexpr std::int64_t kRead = std::int64_t{1} << 28;  // bytes read: more than any cache holds
constexpr int kTries = 5;

/// Bytes of a weight, and of a number among the cross-attention keys and values.
struct Bytes2 {
  double weight = 4;
  double number = 4;
};

Bytes2 bytes_of(const std::string& type, at::Device device) {
  if (type == "int8" && layout_of(ComputeType::int8, device).byte_cross) return {1, kByteCross};
  if (type == "int8" || type == "int8_float16") return {1, 2};
  return type == "float32" ? Bytes2{4, 4} : Bytes2{2, 2};
}

/// The shortest of several calls, seconds. `call` enqueues.
double shortest(at::Device device, const std::function<void()>& call) {
  double best = 1e9;
  for (int i = 0; i <= kTries; ++i) {
    const auto begun = Clock::real().now();
    call();
    if (device.is_cuda()) gpu::synchronize(device.index());
    if (i > 0) best = std::min(best, Seconds(Clock::real().now() - begun).count());
  }
  return best;
}

Result<std::function<void()>> product(at::Device device, const std::string& type) {
  if (type == "int8" || type == "int8_float16") {
    const auto a = at::randint(-127, 127, {kSide, kSide}, at::device(device).dtype(at::kChar));
    return [a, b = a.t()] { at::_int_mm(a, b); };
  }
  static const std::map<std::string, at::ScalarType> kTypes{
      {"float32", at::kFloat}, {"bfloat16", at::kBFloat16}, {"float16", at::kHalf}};
  const auto known = kTypes.find(type);
  if (known == kTypes.end()) return fail(Fault::unsupported, "compute type " + type + ": its limit is not known");
  const auto a = at::randn({kSide, kSide}, at::device(device).dtype(known->second));
  return [a, b = a.t()] { at::mm(a, b); };
}

struct Asked {
  std::string model{};
  std::string device = "cpu";
  std::string type = "float32";
};

Result<Asked> read_line(std::span<char*> arguments) {
  Asked asked;
  const std::map<std::string, std::string*> fields{
      {"--model", &asked.model}, {"--device", &asked.device}, {"--compute-type", &asked.type}};
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const auto field = fields.find(arguments[i]);
    if (field == fields.end()) return fail(Fault::usage, "limits has no option " + std::string(arguments[i]));
    *field->second = arguments[i + 1];
  }
  if (asked.model.empty() || arguments.size() % 2 != 0) return fail(Fault::usage, "limits needs --model PATH");
  return asked;
}

Result<void> print_limits(const Asked& asked) {
  const auto device = device_named(asked.device);
  if (!device) return tl::unexpected<Error>(device.error());
  const auto checkpoint = open_checkpoint(asked.model);
  if (!checkpoint) return tl::unexpected<Error>(checkpoint.error());
  const auto peak = measure_peak(*device, asked.type);
  if (!peak) return tl::unexpected<Error>(peak.error());
  const auto work = work_of(checkpoint->shape.dims);
  const auto bytes = bytes_of(asked.type, *device);
  std::printf("flops %.6g\nbandwidth %.6g\nwindow_flops %.6g\nstep_bytes %.6g\nsequence_bytes %.6g\n", peak->flops,
              peak->bandwidth, work.window_flops, work.token_weights * bytes.weight,
              work.sequence_numbers * bytes.number);
  return {};
}

}  // namespace

Result<DevicePeak> measure_peak(at::Device device, const std::string& compute_type) {
  const c10::InferenceMode no_autograd;
  const auto multiply = product(device, compute_type);
  if (!multiply) return tl::unexpected<Error>(multiply.error());
  const double side = static_cast<double>(kSide);
  const auto memory = at::ones({kRead / 4}, at::device(device).dtype(at::kFloat));
  return DevicePeak{.flops = 2 * side * side * side / shortest(device, *multiply),
                    .bandwidth = static_cast<double>(kRead) / shortest(device, [&] { memory.sum(); })};
}

int limits_command(std::span<char*> arguments) {
  constexpr int kUsage = 2, kNothingRan = 4;
  const auto asked = read_line(arguments);
  const auto printed = [&]() -> Result<void> {
    if (!asked) return tl::unexpected<Error>(asked.error());
    try {
      return print_limits(*asked);
    } catch (...) {
      return tl::unexpected<Error>(current_trouble("measuring what bounds a model").error);
    }
  }();
  if (printed) return 0;
  std::fprintf(stderr, "tutti-engine: %s\n", printed.error().text().c_str());
  return asked ? kNothingRan : kUsage;
}

}  // namespace tutti
