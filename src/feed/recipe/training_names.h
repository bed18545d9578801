#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

// What can be trained, by the word behind `tutti train`: one list for both programs. Each has a table from these names
// to what it does, cli/training/train_command.cpp and train/command.cpp.
inline constexpr std::string_view kWhisperTraining = "whisper";
inline constexpr std::string_view kClassifierTraining = "classifier";

/// All of them, in the order of the help.
inline std::vector<std::string> training_names() {
  return {std::string(kWhisperTraining), std::string(kClassifierTraining)};
}

/// The training that is intended where none is named.
inline constexpr std::string_view kUsualTraining = kWhisperTraining;

}  // namespace tutti
