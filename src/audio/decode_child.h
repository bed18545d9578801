#pragma once

namespace tutti {

/// Whether this process was started by decode_recording as its decoding child. A program that is
/// its own decoder (ProgramPaths::of) checks this first thing in main: `if (is_decode_child(argc, argv)) return
/// decode_audio_main(argc, argv);`
bool is_decode_child(int argc, const char* const* argv);

/// The decoding child: reads the encoded file, writes the samples, reports, and returns the exit status. Keeps
/// within its memory limit.
int decode_audio_main(int argc, const char* const* argv);

}  // namespace tutti
