#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tutti {

/// What `tutti-engine say` is started with, by the command and by the service: a text, a voice, and how it speaks. The
/// defaults are those of `tutti say`.
struct SpeechCommand {
  std::filesystem::path voice{};              ///< OUT/model of `tutti train tts`
  std::filesystem::path text{};               ///< a file that has it
  std::filesystem::path out = "/dev/stdout";  ///< a WAV file
  std::filesystem::path times{};              ///< .json or .srt; empty: none
  std::string speaker{};                      ///< empty: the voice's first
  double rate = 1;                            ///< 2: twice as fast
  std::uint64_t seed = 0;                     ///< of the noise that speech is made of
  std::int32_t steps = 4;                     ///< from noise to speech
  double temperature = -1;                    ///< scale of the noise, 0 to 1; -1: as the voice itself has it
  double pauses = 1;                          ///< how long they last, 2: twice as long
  double pitch_range = 0;                     ///< times the voice's semitones; 0: as the voice itself has it
  std::string vocoder = "auto";               ///< what makes sound of spectrograms, as `tutti say --vocoder` takes it
  std::string device = "cpu";
  std::int32_t threads = 0;  ///< 0: one per core
  bool streams = false;      ///< each sentence goes to `out`, a pipe, when it is spoken; the header knows no length
};

/// The engine's arguments. Pure.
std::vector<std::string> engine_arguments(const SpeechCommand& command);

}  // namespace tutti
