#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "support/test_data.h"
#include "support/tone_file.h"

namespace tutti {

/// Recordings of one spoken digit for tests of what is done with recordings and labels, not of what is in them: those
/// of the shared data, else tones of a pitch for each digit. No two tones are alike.
inline constexpr std::array kDigitSpeakers{"george", "jackson", "lucas", "nicolas", "theo", "yweweler"};

/// "7_theo_3.wav" is number 3 of Theo's sevens.
inline std::string digit_file(int digit, const std::string& speaker, int number) {
  return std::to_string(digit) + "_" + speaker + "_" + std::to_string(number) + ".wav";
}

/// Puts that recording into `folder`, which is made where it is absent.
inline void put_digit(const std::filesystem::path& folder, int digit, const std::string& speaker, int number) {
  namespace fs = std::filesystem;
  const std::string name = digit_file(digit, speaker, number);
  fs::create_directories(folder);
  const fs::path shared = test_data() / "digits" / name;
  if (fs::exists(shared)) return fs::create_symlink(fs::absolute(shared), folder / name);
  double voice = 0;
  while (kDigitSpeakers.at(static_cast<std::size_t>(voice)) != speaker) ++voice;
  write_tone(folder / name, 0.4 + 0.01 * number, 200 + 150 * digit + 9 * voice + 0.2 * number);
}

}  // namespace tutti
