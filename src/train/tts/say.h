#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace tutti {

/// The arguments of `tutti-engine say`.
struct SayRequest {
  std::filesystem::path voice{};  // OUT/model of a training
  std::string text{};
  std::filesystem::path out{};    // a WAV file
  std::filesystem::path times{};  // .json or .srt; empty: none
  std::string speaker{};          // empty: the first
  double rate = 1;                // 2: twice as fast
  std::uint64_t seed = 0;
  /// Of Euler's method, from noise to a spectrogram.
  std::int32_t steps = 4;
  double temperature = -1;       // scale of the noise that speech is made of; below 0: as the voice itself has it
  double pauses = 1;             // 2: pauses last twice as long
  double pitch_range = 0;        // times the voice's semitones; 0: as the voice itself has it
  std::string vocoder = "auto";  // as Voice::load takes it
  std::string device = "cpu";
  std::int32_t threads = 0;  // 0: one per core
  bool streams = false;      // of several sentences, each goes to standard output when it is spoken
};

/// Speaks a text with a voice, sentence by sentence, into a WAV file of 16 bits; and where it is requested, when each
/// word and each symbol is spoken. Returns what there is to say of it, for people. Fault::usage for a text without a
/// character or figure, a speaker that the voice does not have, or a folder that holds no voice.
Result<std::string> say(const SayRequest& request);

}  // namespace tutti
