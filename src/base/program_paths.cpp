#include "base/program_paths.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "base/environment.h"
#include "base/strings.h"

namespace tutti {
namespace {

/// The name alone where no folder of $PATH has it: the error of its start then names it.
ProgramPaths paths_of_environment() {
  const std::string folders = variable("PATH").value_or("");
  for (const auto folder : split(folders, ':'))
    if (const auto paths = ProgramPaths::in(folder); ::access(paths.tutti.c_str(), X_OK) == 0) return paths;
  return ProgramPaths::in({});
}

std::optional<ProgramPaths>& named_paths() {
  static std::optional<ProgramPaths> paths;
  return paths;
}

}  // namespace

ProgramPaths ProgramPaths::of(const std::filesystem::path& link) {
  std::error_code ignored;  // without /proc it stays empty, and engine_command names where it looked
  return {.self = std::filesystem::read_symlink(link, ignored), .tutti = link};
}

ProgramPaths ProgramPaths::in(const std::filesystem::path& folder) {
  return {.self = folder / "tutti", .tutti = folder / "tutti"};
}

void set_program_paths(ProgramPaths paths) {
  named_paths() = std::move(paths);
}

const ProgramPaths& program_paths() {
  if (const auto& named = named_paths()) return *named;
  static const ProgramPaths found = paths_of_environment();
  return found;
}

std::filesystem::path decoder_program() {
  return variable(own_variables::kDecoder).value_or(program_paths().tutti.string());
}

std::filesystem::path emulator_program() {
  return variable(own_variables::kEmulator).value_or(program_paths().tutti.string());
}

}  // namespace tutti
