#include <gtest/gtest.h>

#include "audio/decode_child.h"
#include "base/program_paths.h"

// decode_recording starts this same program again as its decoding child, as it does with tutti.
int main(int argc, char** argv) {
  tutti::set_program_paths(tutti::ProgramPaths::of("/proc/self/exe"));
  if (tutti::is_decode_child(argc, argv)) return tutti::decode_audio_main(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
