#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/digit_recordings.h"
#include "support/run_program.h"

namespace tutti {

/// A folder in LJSpeech's layout with recordings [0, count) of each digit by one speaker.
inline void put_digits(const std::filesystem::path& folder, const std::string& speaker, int count) {
  constexpr const char* kNames[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  std::filesystem::create_directories(folder / "wavs");
  std::ofstream table(folder / "metadata.csv");
  for (int digit = 0; digit < 10; ++digit)
    for (int number = 0; number < count; ++number) {
      put_digit(folder / "wavs", digit, speaker, number);
      table << std::filesystem::path(digit_file(digit, speaker, number)).stem().string() << '|' << kNames[digit]
            << '\n';
    }
}

/// Makes a set of it.
inline ProgramEnd prepare_voice(const std::filesystem::path& data, const std::filesystem::path& set,
                                const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{tutti_program(), "prepare", "tts", "--data", data.string(), "--out", set.string()};
  words.insert(words.end(), more.begin(), more.end());
  return run_program(words);
}

/// A training of a network that is too small to be understood, and soon over.
inline std::vector<std::string> training_of(const std::filesystem::path& set, const std::filesystem::path& out,
                                            const std::vector<std::string>& more) {
  std::vector<std::string> words{tutti_program(),
                                 "train",
                                 "tts",
                                 "--train-data",
                                 set.string(),
                                 "--out",
                                 out.string(),
                                 "--device",
                                 "cpu",
                                 "--compute-threads",
                                 "1",
                                 "--batch-size",
                                 "4",
                                 "--width",
                                 "32",
                                 "--encoder-layers",
                                 "1",
                                 "--decoder-width",
                                 "32",
                                 "--decoder-layers",
                                 "1"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace tutti
