#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "device/machine.h"
#include "model/compute_type.h"
#include "model/cpu/compute_team.h"
#include "model/cpu/matrix/product.h"
#include "model/device_name.h"
#include "model/formats/checkpoint.h"
#include "model/gpu.h"
#include "model/gpu/tf32.h"
#include "model/work.h"
#include "settings/option_table.h"
#include "worker/caught_fault.h"
#include "worker/commands.h"

namespace tutti {
namespace {

constexpr std::int64_t kRead = std::int64_t{1} << 28;  // bytes read: more than any cache holds
constexpr int kTries = 5;

/// The size of the matrices in a product: large enough for the device's best.
std::int64_t side_on(at::Device device) {
  return device.is_cuda() ? 8192 : 2048;
}

/// Seconds of one of so many calls, which enqueue, between two waits for the device.
double time_of(at::Device device, const std::function<void()>& call, int together) {
  const auto begun = Clock::real().now();
  for (int i = 0; i < together; ++i) call();
  if (device.is_cuda()) gpu::synchronize(device.index());
  return Seconds(Clock::real().now() - begun).count() / together;
}

/// The shortest of several calls, or `best` where that is shorter. What cannot come near `best` is not repeated: some
/// products take seconds on some processors.
double shortest(at::Device device, const std::function<void()>& call, double best = 1e9) {
  constexpr double kPreparing = 10;               // how many times slower than the others a first call may be
  const int together = device.is_cuda() ? 8 : 1;  // launching and waiting cost a GPU more than many a call takes
  double here = time_of(device, call, 1);
  if (here > kPreparing * best) return best;
  for (int i = 0; i < kTries; ++i) here = std::min(here, time_of(device, call, together));
  return std::min(here, best);
}

using Call = std::function<void()>;

Call torch_product(at::Device device, at::ScalarType type) {
  const auto side = side_on(device);
  const auto a = at::randn({side, side}, at::device(device).dtype(type));
  return [a, b = a.t()] { at::mm(a, b); };
}

Call whole_product(at::Device device) {
  const auto side = side_on(device);
  const auto a = at::randint(-127, 127, {side, side}, at::device(device).dtype(at::kChar));
  return [a, b = a.t()] { at::_int_mm(a, b); };
}

Call own_product(WeightPrecision precision) {
  const auto side = side_on(at::kCPU);
  const auto a = at::randn({side, side});
  const auto packed = std::make_shared<const PackedMatrix>(pack(a, {}, precision));
  return [a, packed, side, y = at::empty({side, side})] {
    product({a.const_data_ptr<float>(), side, side}, {}, *packed, {}, {y.mutable_data_ptr<float>(), side});
  };
}

/// What may be the device's fastest product for a type: every one that a network of the type computes with (int8's
/// encoder has sixteen bits), and torch's. On a CPU torch's own for the narrow types is slow where the processor has no
/// instructions for them, and float32's, or ours, is what it can do.
std::vector<Call> products(at::Device device, const ComputeType& type) {
  std::vector<Call> calls;
  const bool own = layout_of(type, device).own_kernels;
  if (device.is_cpu() || type.keeps_float32()) calls.push_back(torch_product(device, at::kFloat));
  switch (type.kind()) {
    case ComputeType::float32:
    case ComputeType::tf32:
      if (own) calls.push_back(own_product(WeightPrecision::float32));
      break;
    case ComputeType::bfloat16:
      if (own) calls.push_back(own_product(WeightPrecision::bfloat16));
      if (own && !multiplies_bfloat16())
        calls.push_back(own_product(WeightPrecision::int16));  // as its windows' attention
      calls.push_back(torch_product(device, at::kBFloat16));
      break;
    case ComputeType::float16: calls.push_back(torch_product(device, at::kHalf)); break;
    case ComputeType::int8:
    case ComputeType::int8_float16:
      if (own) {
        calls.push_back(own_product(WeightPrecision::int8));
        calls.push_back(own_product(multiplies_bfloat16() ? WeightPrecision::bfloat16 : WeightPrecision::int16));
      }
      if (device.is_cuda()) calls.push_back(torch_product(device, at::kHalf));
      calls.push_back(whole_product(device));
      break;
  }
  return calls;
}

struct LimitsRequest {
  std::filesystem::path model{};
  std::string device = "cpu";
  std::string type = "float32";
  std::int32_t threads = 0;
};

Result<LimitsRequest> read_line(std::span<char*> arguments) {
  LimitsRequest request;
  OptionTable table("tutti-engine limits", "");
  table.add("model", request.model);
  table.add("device", request.device);
  table.add("compute-type", request.type);
  table.add("threads", request.threads);
  TRY(table.read_line_of_program(arguments));
  if (request.model.empty()) return fail(Fault::usage, "limits needs --model PATH");
  if (request.threads < 0)
    return fail(Fault::usage, "limits --threads: expected 0 or more, found " + std::to_string(request.threads));
  return request;
}

Result<void> print_limits(const LimitsRequest& request) {
  const auto device = TRY(device_named(request.device));
  set_compute_threads(request.threads, read_cpu().cores);
  const auto checkpoint = TRY(open_checkpoint(request.model));
  const auto peak = TRY(measure_peak(device, request.type));  // an unknown type is refused there
  const auto& dims = checkpoint.shape.dims;
  const auto read = step_bytes(dims, device, *ComputeType::named(request.type));
  std::printf("flops %.6g\nbandwidth %.6g\nwindow_flops %.6g\nstep_bytes %.6g\nsequence_bytes %.6g\n", peak.flops,
              peak.bandwidth, work_of(dims).window_flops, read.weights, read.window);
  return {};
}

}  // namespace

Result<DevicePeak> measure_peak(at::Device device, const std::string& compute_type) {
  const c10::InferenceMode no_autograd;
  const auto type = ComputeType::named(compute_type);
  if (!type) return fail(Fault::unsupported, "compute type " + compute_type + ": its limit is not known");
  const Tf32Scope rounds(*type == ComputeType::tf32);
  double product = 1e9;
  for (const auto& call : products(device, *type)) product = shortest(device, call, product);
  const auto side = static_cast<double>(side_on(device));
  const auto memory = at::ones({kRead / 4}, at::device(device).dtype(at::kFloat));
  return DevicePeak{.flops = 2 * side * side * side / product,
                    .bandwidth = static_cast<double>(kRead) / shortest(device, [&] { memory.sum(); })};
}

int limits_command(std::span<char*> arguments) {
  const auto request = read_line(arguments);
  const auto printed = [&]() -> Result<void> {
    if (!request) return tl::unexpected<Error>(request.error());
    try {
      return print_limits(*request);
    } catch (...) {
      return tl::unexpected<Error>(caught_fault("measuring what bounds a model").error);
    }
  }();
  if (printed) return kDone;
  std::fprintf(stderr, "tutti-engine: %s\n", printed.error().text().c_str());
  return request ? kNothingRan : kUsage;
}

}  // namespace tutti
