// What one machine's GPU (or CPU) makes of the engine: parity, supervision, speed. Needs libtorch and nothing else.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apart.h"
#include "base/build_id.h"
#include "base/numbers.h"
#include "base/program_paths.h"
#include "checks.h"
#include "model/gpu.h"
#include "options.h"
#include "worker/commands.h"
#include "worker/cuda_driver.h"

namespace {

constexpr const char* kHelp =
    "tutti-gpu-check [--json] [--cpu] [--check NAME] [--sizes A,B] [--types A,B] [--slots N,M] [--seconds S]\n"
    "                [--beams N] [--all] [--model DIR]\n"
    "\n"
    "  --json        print JSON instead of a table: an object a line, the last one is the result\n"
    "  --cpu         check the CPU although there is a GPU\n"
    "  --check NAME  this check alone, in this process: device, parity, step, selection, worker, speed or kernels.\n"
    "                Without it each has a process of its own, so that none is lost to another's crash\n"
    "  --sizes A,B   networks, in this order: tiny, base, small, medium, large-v3, turbo. By default step and kernels\n"
    "                take large-v3 on a GPU and none on a CPU, speed takes all on a GPU, tiny and base on a CPU\n"
    "  --types A,B   compute types of parity, step, speed and kernels (default: all that the device has; of kernels\n"
    "                float16)\n"
    "  --slots N,M   sequences that step together (default: 1,8,32,64, on a CPU 1,8; of selection 1,8,32,160)\n"
    "  --seconds S   of each measurement of speed and selection at least (default: 1, on a CPU 0.3; of selection 0.2)\n"
    "  --beams N     measure beam searches with so many beams too\n"
    "  --all         measure the speed of all sizes on a CPU, too\n"
    "  --model DIR   check parity with these weights too\n";

/// What there is to check, in the order of docs/cuda.md.
struct Check {
  const char* name;
  void (*run)(tutti::Report& report, at::Device device, const tutti::CheckOptions& options);
};

constexpr Check kChecks[] = {{"device", tutti::check_device}, {"parity", tutti::check_parity},
                             {"step", tutti::check_steps},    {"selection", tutti::check_selection},
                             {"worker", tutti::check_worker}, {"speed", tutti::measure_speed},
                             {"kernels", tutti::time_kernels}};

const Check* check_named(std::string_view name) {
  const auto* const found = std::ranges::find(kChecks, name, &Check::name);
  return found != std::end(kChecks) ? found : nullptr;
}

/// This program once for every check. Where there is no GPU all know it, and where one is gone by then they fail.
std::vector<tutti::CheckApart> checks_apart(std::span<char*> arguments, bool gpu) {
  std::vector<tutti::CheckApart> checks;
  for (const auto& check : kChecks) {
    std::vector<std::string> command{"/proc/self/exe", "--check", check.name};
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (!gpu) command.emplace_back("--cpu");
    checks.push_back({.name = check.name, .command = std::move(command)});
  }
  return checks;
}

int run_alone(tutti::Report& report, const Check& check, const tutti::CheckOptions& options) {
  const bool gpu = !options.cpu && tutti::gpu::count() > 0;
  if (!gpu && !options.cpu) {
    report.add({.check = check.name, .what = "a CUDA device (--cpu: on the CPU)", .unit = "is there", .passed = false});
  } else {
    const at::Device device = gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    report.attempt(check.name, check.name, [&] { check.run(report, device, options); });
  }
  return report.passed() ? 0 : 1;
}

std::string version_text(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string version_of(const tutti::CudaDevice& driver) {
  return version_text(driver.driver / 1000, driver.driver % 1000 / 10);
}

/// "checked on NVIDIA L4, compute capability 8.9, 58 processors, 23.0 GB, a driver for CUDA 13.0".
std::string words_for(const tutti::gpu::Facts& card, const std::optional<tutti::CudaDevice>& driver) {
  return "checked on " + card.name + ", compute capability " +
         version_text(card.capability / 10, card.capability % 10) + ", " + std::to_string(card.processors) +
         " processors, " + tutti::gigabytes_text(card.memory) +
         (driver ? ", a driver for CUDA " + version_of(*driver) : std::string());
}

/// A GPU that the driver names and torch cannot use: the checks of a CPU would pass, and say nothing of it.
void report_unusable(tutti::Report& report, const tutti::CudaDevice& driver, const tutti::Error& why) {
  report.note("the driver names a GPU, " + driver.name + ", which torch cannot use (" + why.what +
              "). Its CUDA half needs a driver for CUDA 13 (580 or newer; this one is for CUDA " + version_of(driver) +
              ") and libtutti-cuda.so beside this program; --cpu checks the CPU");
  report.add({.check = "device", .what = driver.name, .unit = "can be used", .passed = false});
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tutti;
  set_program_paths(ProgramPaths::of("/proc/self/exe"));
  const std::span arguments(argv + 1, argv + argc);
  if (!arguments.empty() && std::string_view(arguments[0]) == "worker") {
    return worker_command(arguments.subspan(1), {.build_id = std::string(build_id()), .load = load_check_model});
  }
  const auto options = read_check_options(arguments);
  if (!options) return std::fprintf(stderr, "tutti-gpu-check: %s\n", options.error().text().c_str()), 2;
  if (options->help) return std::fputs(kHelp, stdout), 0;

  Report report(options->json);
  if (const auto* const check = check_named(options->check)) return run_alone(report, *check, *options);

  const auto driver = options->cpu ? std::nullopt : visible_cuda_device(0);
  const auto card = options->cpu ? Result<gpu::Facts>(fail(Fault::missing, "not requested")) : gpu::facts(0);
  const bool gpu = card.has_value();
  if (driver && !gpu) {
    report_unusable(report, *driver, card.error());
  } else {
    report.note(gpu            ? words_for(*card, driver)
                : options->cpu ? "ran on the CPU as requested: no GPU figure was taken"
                               : "no CUDA device: ran on the CPU, no GPU figure was taken");
    if (!gpu) report.note("decoder steps of a GPU ran by their kernels' host versions: no CUDA graph was recorded");
    run_apart(report, checks_apart(arguments, gpu));
  }
  report.close(gpu ? card->name : driver ? driver->name : "CPU");
  return report.passed() ? 0 : 1;
}
