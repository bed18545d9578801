#include <sys/prctl.h>

#include "audio/decode_child.h"
#include "base/process/process_setup.h"
#include "base/program_paths.h"
#include "cli/commands.h"
#include "link/emulated_worker.h"

int main(int argc, char** argv) {
  tutti::occupy_closed_streams();
  tutti::outlive_file_size_limit();
  tutti::keep_ends_of_children();
  tutti::set_program_paths(tutti::ProgramPaths::of("/proc/self/exe"));
  // Its children run that link, and would be called "exe" where people look at processes.
  ::prctl(PR_SET_NAME, "tutti");
  if (tutti::is_decode_child(argc, argv)) return tutti::decode_audio_main(argc, argv);
  if (tutti::is_emulated_worker(argc, argv)) return tutti::emulated_worker_main(argc, argv);
  return tutti::run_tutti({argv + 1, argv + argc});
}
