#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti train whisper --data DIR --out DIR`: fine-tunes a Whisper or trains a new one.
int run_train(const std::vector<std::string>& arguments);

}  // namespace tutti
