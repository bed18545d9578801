#pragma once

#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "support/temp_folder.h"
#include "support/test_data.h"
#include "support/test_models.h"

namespace tutti {

/// A recording and its spoken text, as in clips/texts.json of the shared tiny.en: text, and phrases with their start
/// and end in seconds.
struct SpokenRecording {
  std::filesystem::path file{};
  nlohmann::json spoken{};
};

/// Readings of speech/ljspeech with a second of silence between two of them, again from the first until they are
/// `seconds` long.
inline SpokenRecording joined_readings(const std::filesystem::path& file, double seconds) {
  constexpr std::size_t kHeader = 44, kBytesPerSecond = 2 * 22050;
  const auto folder = test_data() / "speech/ljspeech";
  std::vector<std::pair<std::string, std::string>> readings;  // text, PCM
  std::string head;
  std::istringstream lines(read_file(folder / "metadata.csv").value());
  for (std::string line; std::getline(lines, line);) {
    const auto name = line.substr(0, line.find('|')) + ".wav";
    const auto wav = read_file(folder / "wavs" / name).value();
    if (wav.substr(36, 4) != "data") throw std::runtime_error(name + ": expected a header of 44 bytes");
    head = wav.substr(0, kHeader);
    readings.emplace_back(line.substr(line.rfind('|') + 1), wav.substr(kHeader));
  }
  const auto now = [](const std::string& pcm) { return static_cast<double>(pcm.size()) / kBytesPerSecond; };
  std::string pcm(kBytesPerSecond, '\0'), text;
  nlohmann::json phrases;
  for (std::size_t i = 0; now(pcm) < seconds; ++i) {
    const auto& [output, samples] = readings[i % readings.size()];
    const double start = now(pcm);
    pcm += samples;
    phrases.push_back({{"start", start}, {"end", now(pcm)}, {"text", output}});
    pcm += std::string(kBytesPerSecond, '\0');
    text += (text.empty() ? "" : " ") + output;
  }
  const auto put = [&](std::size_t at, std::size_t value) {
    for (std::size_t i = 0; i < 4; ++i) head[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(4, pcm.size() + kHeader - 8);
  put(40, pcm.size());
  if (!write_file_atomically(file, head + pcm)) throw std::runtime_error("no " + file.string());
  return {file, {{"text", text}, {"phrases", phrases}}};
}

/// A recording of three or of eight minutes: the shared one for the shared model, else readings joined in `folder`.
inline SpokenRecording long_recording(const TempFolder& folder, int minutes) {
  const std::string stem = minutes == 3 ? "long-three-minutes" : "long-eight-minutes";
  if (!has_shared_tiny_model()) return joined_readings(folder / (stem + ".wav"), 60 * minutes);
  const auto clips = shared_tiny_model() / "clips";
  const auto texts = nlohmann::json::parse(read_file(clips / "texts.json").value());
  return {clips / (stem + ".flac"), texts.at(stem + ".flac")};
}

}  // namespace tutti
