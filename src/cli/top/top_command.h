#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti top`: a running batch, or the machine, live.
int run_top(const std::vector<std::string>& arguments);

}  // namespace tutti
