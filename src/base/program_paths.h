#pragma once

#include <filesystem>

namespace tutti {

/// The programs that this process starts as its children. Which file a process runs is its main's affair: a library in
/// another program, such as python3, must not start that program again.
struct ProgramPaths {
  std::filesystem::path self;   ///< this program's file: tutti-engine is beside it, and its name is in traces
  std::filesystem::path tutti;  ///< the `tutti` whose children decode audio and play emulated GPUs

  /// The paths of a program that is its own child, as `tutti` is. `link` is what the system calls the running program,
  /// "/proc/self/exe": its children still run the same file after an update has replaced it.
  static ProgramPaths of(const std::filesystem::path& link);
  /// The programs of an installation: the folder that has both `tutti` and `tutti-engine`.
  static ProgramPaths in(const std::filesystem::path& folder);
};

/// Names them for this process. Called once, first thing in main, before any thread.
void set_program_paths(ProgramPaths paths);

/// Those that main has set; else those of the folder in $PATH that has a `tutti`. Where no folder has one, the names
/// alone, so that the error of the start names them. Thread-safe.
const ProgramPaths& program_paths();

/// What decodes audio: TUTTI_DECODER, which tests set, else program_paths().tutti.
std::filesystem::path decoder_program();

/// What plays emulated GPUs: TUTTI_EMULATOR, which tests set, else program_paths().tutti. The engine's own are in
/// link/engine_command.h.
std::filesystem::path emulator_program();

}  // namespace tutti
