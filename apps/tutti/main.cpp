#include "audio/decode_child.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  if (tutti::is_decode_child(argc, argv)) return tutti::decode_audio_main(argc, argv);
  return tutti::run_tutti({argv + 1, argv + argc});
}
