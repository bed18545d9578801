#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti prepare whisper --model M --out DIR FILE...`: long recordings with texts become a corpus to train on.
int run_prepare(const std::vector<std::string>& arguments);

}  // namespace tutti
