#include "cli/doctor_command.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

#include "base/build_id.h"
#include "base/files.h"
#include "cli/command_start.h"
#include "cli/commands.h"
#include "cli/version.h"
#include "device/machine.h"
#include "device/machine_devices.h"
#include "hub/find.h"
#include "view/text.h"

namespace tutti {
namespace {

constexpr double kGiB = 1 << 30;
/// A ten-hour recording decoded to disk takes 1.1 GiB; several may wait for a device.
constexpr double kLeastFreeDisk = 5 * kGiB;

/// Prints findings and counts those that keep something from working.
class Report {
 public:
  void good(const std::string& thing, const std::string& found) { line("ok  ", thing, found); }
  void note(const std::string& thing, const std::string& found) { line("note", thing, found); }
  void bad(const std::string& thing, const std::string& found, const std::string& remedy) {
    line("BAD ", thing, found);
    std::printf("                    -> %s\n", remedy.c_str());
    ++bad_;
  }
  int bad() const { return bad_; }

 private:
  static void line(const char* mark, const std::string& thing, const std::string& found) {
    std::printf("%s  %-12s  %s\n", mark, thing.c_str(), found.c_str());
  }
  int bad_ = 0;
};

std::string gib(Bytes bytes) {
  return short_number(static_cast<double>(bytes.value) / kGiB) + " GiB";
}

void look_at_processor(Report& report) {
  const CpuFacts cpu = read_cpu();
  std::string features;
  for (const auto& feature : cpu.features) features += " " + feature;
  report.good("processor", cpu.model.value_or("unknown") + ", " + std::to_string(cpu.cores) + " of " +
                               std::to_string(cpu.machine_cores) + " cores for us," + features);
  if (const auto memory = read_memory())
    report.good("memory", gib(memory->total) + ", " + gib(memory->available) + " available");
}

void look_at_gpus(Report& report) {
  const MachineDevices devices = find_devices();
  for (const auto& gpu : devices.gpus) {
    const bool old = gpu.capability && *gpu.capability < kOldestCapability;
    if (old)
      report.bad("GPU", gpu.text(), "Tutti needs Turing (7.5) or newer; use --device cpu or another GPU");
    else
      report.good("GPU", gpu.text());
  }
  if (devices.driver) report.good("driver", *devices.driver + ", CUDA up to " + devices.cuda.value_or("unknown"));
  for (const auto& line : devices.notes) report.note("GPU", line);
}

void look_at_disk(Report& report, const std::string& what, const std::filesystem::path& path) {
  std::filesystem::path there = path;
  std::error_code ignored;
  while (!std::filesystem::exists(there, ignored) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  const auto room = free_disk(there);
  if (!room) return report.bad(what, room.error().what, room.error().hint);
  if (static_cast<double>(room->value) < kLeastFreeDisk)
    return report.bad(what, path.string() + ": " + gib(*room) + " free",
                      "Free some space, or point " + std::string(what == "temporary" ? "TMPDIR" : "TUTTI_CACHE") +
                          " at a larger disk");
  report.good(what, path.string() + ": " + gib(*room) + " free");
}

/// Libraries that are loaded on first use, and what is lost without them.
void look_at_libraries(Report& report) {
  struct Needed {
    const char* file;
    const char* package;
    const char* what;
  };
  for (const Needed& needed : {Needed{"libavformat.so.59", "libavformat59", "mp3, m4a, video and most other formats"},
                               Needed{"libswresample.so.4", "libswresample4", "every sample rate but 16 kHz"},
                               Needed{"libcurl.so.4", "libcurl4", "tutti pull"}}) {
    if (void* library = ::dlopen(needed.file, RTLD_LAZY)) {
      ::dlclose(library);
      report.good("library", std::string(needed.file) + ": " + needed.what);
    } else {
      report.bad("library", std::string(needed.file) + " is not here: no " + needed.what,
                 std::string("apt-get install ") + needed.package);
    }
  }
}

void look_at_models(Report& report) {
  const auto models = list_models(ModelPlaces::from_environment());
  if (models.empty()) report.note("models", "none in the caches; tutti pull tiny.en gets a small one");
  for (const auto& model : models) {
    if (model.files.complete())
      report.good("model", model.name + " in " + model.files.path.string());
    else
      report.bad("model", model.name + ": " + model.files.missing.front(), "tutti pull " + model.name);
  }
}

void look_at_engine(Report& report) {
  const auto engine = engine_version();
  if (!engine) return report.bad("engine", engine.error().what, engine.error().hint);
  if (*engine != "tutti-engine " + std::string(build_id()))
    return report.bad("engine", *engine + " is of another build", "Build or install tutti and tutti-engine together");
  report.good("engine", *engine);
}

}  // namespace

int run_doctor(const std::vector<std::string>& arguments) {
  OptionTable table("doctor", "Say what this machine has, what is missing, and what to do about it.");
  if (const auto code = start_command(table, arguments)) return *code;
  Report report;
  look_at_engine(report);
  look_at_processor(report);
  look_at_gpus(report);
  const char* temporary = std::getenv("TMPDIR");
  look_at_disk(report, "temporary", temporary && *temporary ? temporary : "/tmp");
  look_at_disk(report, "cache", cache_folder());
  look_at_libraries(report);
  look_at_models(report);
  std::puts(report.bad() == 0 ? "Nothing is missing." : "See the arrows for what to do.");
  return report.bad() == 0 ? kDone : kSomeFailed;
}

}  // namespace tutti
