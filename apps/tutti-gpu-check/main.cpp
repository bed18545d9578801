// What one machine's GPU (or CPU) makes of the engine: parity, supervision, speed. Needs libtorch and nothing else.
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "base/build_id.h"
#include "checks.h"
#include "model/gpu.h"
#include "worker/command.h"
#include "worker/cuda_driver.h"

namespace {

constexpr const char* kHelp =
    "tutti-gpu-check [--json] [--all] [--cpu] [--model DIR]\n"
    "\n"
    "  --json       print JSON instead of a table: an object a line, the last one says how it came out\n"
    "  --all        measure tiny to large-v3 and turbo (default on a GPU; on a CPU: tiny and base)\n"
    "  --cpu        check the CPU although there is a GPU\n"
    "  --model DIR  check parity with these weights too\n";

struct Line {
  bool json = false;
  bool all = false;
  bool cpu = false;
  std::optional<std::filesystem::path> model{};
  bool understood = true;
};

Line read_line(std::span<char*> arguments) {
  Line line;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "--json")
      line.json = true;
    else if (word == "--all")
      line.all = true;
    else if (word == "--cpu")
      line.cpu = true;
    else if (word == "--model" && i + 1 < arguments.size())
      line.model = arguments[++i];
    else
      line.understood = false;
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tutti;
  const std::span arguments(argv + 1, argv + argc);
  if (!arguments.empty() && std::string_view(arguments[0]) == "worker") {
    return worker_command(arguments.subspan(1), {.build_id = std::string(build_id()), .load = load_check_model});
  }
  const auto line = read_line(arguments);
  if (!line.understood) return std::fputs(kHelp, stderr), 2;

  const bool gpu = !line.cpu && gpu::count() > 0;
  const at::Device device = gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  const auto name = gpu ? visible_cuda_device(0).value_or(CudaDevice{.name = "CUDA device"}).name : std::string("CPU");
  Report report(line.json);
  report.note(gpu        ? "checked on " + name
              : line.cpu ? "ran on the CPU as asked: no GPU figure was taken"
                         : "no CUDA device: ran on the CPU, no GPU figure was taken");
  if (!gpu) report.note("decoder steps of a GPU ran by their kernels' host versions: no CUDA graph was recorded");
  report.attempt("parity", "parity", [&] { check_parity(report, device, line.model); });
  report.attempt("step", "step", [&] { check_steps(report, device); });
  report.attempt("judge", "judge", [&] { check_judging(report, device); });
  report.attempt("worker", "worker", [&] { check_worker(report, device); });
  report.attempt("speed", "speed", [&] { measure_speed(report, device, gpu || line.all); });
  report.close(name);
  return report.passed() ? 0 : 1;
}
