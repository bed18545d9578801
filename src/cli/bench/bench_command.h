#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti bench [FILE...]`: how fast this machine is with a model, in every way it can run it, and which flags to use.
int run_bench(const std::vector<std::string>& arguments);

}  // namespace tutti
