#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti train whisper`: the words behind it; returns the exit code.
int run_train_whisper(const std::vector<std::string>& words);

/// `tutti train classifier`.
int run_train_classifier(const std::vector<std::string>& words);

}  // namespace tutti
