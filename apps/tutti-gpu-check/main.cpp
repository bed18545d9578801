// What one machine's GPU (or CPU) makes of the engine: parity, supervision, speed. Needs libtorch and nothing else.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apart.h"
#include "base/build_id.h"
#include "base/numbers.h"
#include "checks.h"
#include "model/gpu.h"
#include "worker/commands.h"
#include "worker/cuda_driver.h"

namespace {

constexpr const char* kHelp =
    "tutti-gpu-check [--json] [--all] [--cpu] [--model DIR] [--check NAME]\n"
    "\n"
    "  --json        print JSON instead of a table: an object a line, the last one is the result\n"
    "  --all         measure tiny to large-v3 and turbo (default on a GPU; on a CPU: tiny and base)\n"
    "  --cpu         check the CPU although there is a GPU\n"
    "  --model DIR   check parity with these weights too\n"
    "  --check NAME  this check alone, in this process: parity, step, selection, worker or speed. Without it\n"
    "                each has a process of its own, so that none is lost to another's crash\n";

struct Line {
  bool json = false;
  bool all = false;
  bool cpu = false;
  std::optional<std::filesystem::path> model{};
  std::string check{};  // empty: all of them
  bool understood = true;
};

/// What there is to check, in the order of docs/cuda.md.
struct Check {
  const char* name;
  void (*run)(tutti::Report& report, at::Device device, const Line& line);
};

constexpr Check kChecks[] = {
    {"parity", [](auto& report, auto device, const Line& line) { tutti::check_parity(report, device, line.model); }},
    {"step", [](auto& report, auto device, const Line&) { tutti::check_steps(report, device); }},
    {"selection", [](auto& report, auto device, const Line&) { tutti::check_selection(report, device); }},
    {"worker", [](auto& report, auto device, const Line&) { tutti::check_worker(report, device); }},
    {"speed", [](auto& report, auto device, const Line& line) {
       tutti::measure_speed(report, device, device.is_cuda() || line.all);
     }}};

/// `judge` is the name that `selection` had in earlier versions.
const Check* check_named(std::string_view name) {
  if (name == "judge") name = "selection";
  const auto* const found = std::ranges::find(kChecks, name, &Check::name);
  return found != std::end(kChecks) ? found : nullptr;
}

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
    else if (word == "--check" && i + 1 < arguments.size() && check_named(arguments[i + 1]))
      line.check = arguments[++i];
    else
      line.understood = false;
  }
  return line;
}

/// This program once for every check. Where there is no card all know it, and where one is gone by then they fail.
std::vector<tutti::CheckApart> checks_apart(std::span<char*> arguments, bool gpu) {
  std::vector<tutti::CheckApart> checks;
  for (const auto& check : kChecks) {
    auto& command = checks.emplace_back(check.name).command;
    command = {"/proc/self/exe", "--check", check.name};
    command.insert(command.end(), arguments.begin(), arguments.end());
    if (!gpu) command.emplace_back("--cpu");
  }
  return checks;
}

int run_alone(tutti::Report& report, const Check& check, const Line& line) {
  const bool gpu = !line.cpu && tutti::gpu::count() > 0;
  if (!gpu && !line.cpu) {
    report.add({.check = check.name, .what = "a CUDA device (--cpu: on the CPU)", .unit = "is there", .passed = false});
  } else {
    const at::Device device = gpu ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    report.attempt(check.name, check.name, [&] { check.run(report, device, line); });
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

/// A card that the driver names and torch cannot use: the checks of a CPU would pass, and say nothing of it.
void report_unusable(tutti::Report& report, const tutti::CudaDevice& driver, const tutti::Error& why) {
  report.note("the driver names a GPU, " + driver.name + ", which torch cannot use (" + why.what +
              "). Its CUDA half needs a driver for CUDA 13 (580 or newer; this one is for CUDA " + version_of(driver) +
              ") and libtutti-cuda.so beside this program; --cpu checks the CPU");
  report.add({.check = "device", .what = driver.name, .unit = "can be used", .passed = false});
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

  Report report(line.json);
  if (const auto* const check = check_named(line.check)) return run_alone(report, *check, line);

  const auto driver = line.cpu ? std::nullopt : visible_cuda_device(0);
  const auto card = line.cpu ? Result<gpu::Facts>(fail(Fault::missing, "not requested")) : gpu::facts(0);
  const bool gpu = card.has_value();
  if (driver && !gpu) {
    report_unusable(report, *driver, card.error());
  } else {
    report.note(gpu        ? words_for(*card, driver)
                : line.cpu ? "ran on the CPU as requested: no GPU figure was taken"
                           : "no CUDA device: ran on the CPU, no GPU figure was taken");
    if (!gpu) report.note("decoder steps of a GPU ran by their kernels' host versions: no CUDA graph was recorded");
    run_apart(report, checks_apart(arguments, gpu));
  }
  report.close(gpu ? card->name : driver ? driver->name : "CPU");
  return report.passed() ? 0 : 1;
}
