#include <dlfcn.h>

#include <filesystem>

#include "base/build_id.h"
#include "doctor/checks.h"
#include "hub/find.h"
#include "link/engine_command.h"
#include "link/query_engine.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

struct Needed {
  const char* file;
  const char* package;
  const char* what;  // is lost without it
};
constexpr Needed kLibraries[] = {{"libavformat.so.59", "libavformat59", "mp3, m4a, video and most other formats"},
                                 {"libswresample.so.4", "libswresample4", "every sample rate but 16 kHz"},
                                 {"libcurl.so.4", "libcurl4", "tutti pull"}};

void check_engine(Findings& findings) {
  const auto engine = engine_version();
  if (!engine) return findings.fatal("engine", engine.error().what, engine.error().hint);
  if (*engine != "tutti-engine " + std::string(build_id()))
    return findings.fatal("engine", *engine + " is of another build",
                          "Build or install tutti and tutti-engine together");
  findings.good("engine", *engine);
}

/// libtutti-cuda.so is beside the engine, or in lib/tutti of an installation.
bool has_cuda_half() {
  const auto command = engine_command(EngineSettings::of_this_process(), {});
  if (!command) return true;  // the engine's own finding has more
  std::error_code gone;
  const fs::path engine = fs::canonical(command->words[command->words.size() - 1], gone);
  if (gone) return true;
  const fs::path beside = engine.parent_path();
  return fs::exists(beside / "libtutti-cuda.so", gone) || fs::exists(beside / "../lib/tutti/libtutti-cuda.so", gone);
}

}  // namespace

void check_programs(Findings& findings) {
  check_engine(findings);
  for (const Needed& needed : kLibraries) {
    // It stays loaded: what codecs allocate as they load would otherwise be lost with them.
    if (void* library = ::dlopen(needed.file, RTLD_LAZY | RTLD_NODELETE)) {
      ::dlclose(library);
      findings.good("library", std::string(needed.file) + ": " + needed.what);
    } else {
      findings.broken("library", std::string(needed.file) + " is not here: no " + needed.what,
                      std::string("apt-get install ") + needed.package);
    }
  }
}

void check_cuda(const std::optional<std::string>& driver_cuda, Findings& findings) {
  constexpr int kNeededCuda = 13;  // what libtorch is built for (docs/cuda.md)
  if (driver_cuda && std::atoi(driver_cuda->c_str()) < kNeededCuda)
    findings.broken("CUDA", "the driver runs CUDA up to " + *driver_cuda + ", the engine needs 13.0",
                    "Install NVIDIA's driver 580 or newer; until then the GPUs cannot be used");
  else if (driver_cuda)
    findings.good("CUDA", "the driver runs CUDA up to " + *driver_cuda);
  if (!has_cuda_half())
    findings.broken("CUDA", "this build of tutti-engine has no CUDA half (libtutti-cuda.so): it cannot use the GPUs",
                    "Build where nvcc of CUDA 13 is found, or install a package that has it");
}

void check_models(Findings& findings) {
  const auto models = list_models(ModelFolders::from_environment());
  if (models.empty())
    findings.note("models", "none in the caches", "tutti pull tiny.en gets a small one, tutti pull turbo a good one");
  for (const auto& model : models) {
    if (model.files.complete())
      findings.good("model", model.name + " in " + model.files.path.string());
    else
      findings.broken("model", model.name + ": " + model.files.missing.front(), "tutti pull " + model.name);
  }
}

}  // namespace tutti
