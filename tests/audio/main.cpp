#include <gtest/gtest.h>

#include <cstdlib>

#include "audio/decode_child.h"
#include "audio/recording.h"
#include "base/program_paths.h"

namespace {

/// A program that does not check is_decode_child: it decodes, also as its own decoding child. Exits with 42 if that was
/// refused.
int decode_forgetfully() {
  const auto recording = tutti::decode_recording("/proc/self/exe");
  return !recording && recording.error().fault == tutti::Fault::internal ? 42 : 1;
}

}  // namespace

// decode_recording starts this same program again as its decoding child, as it does with tutti.
int main(int argc, char** argv) {
  tutti::set_program_paths(tutti::ProgramPaths::of("/proc/self/exe"));
  if (std::getenv("TUTTI_TEST_FORGETFUL")) return decode_forgetfully();
  if (tutti::is_decode_child(argc, argv)) return tutti::decode_audio_main(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
