#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti models`: every Whisper model in the caches of this machine.
int run_models(const std::vector<std::string>& arguments);

}  // namespace tutti
