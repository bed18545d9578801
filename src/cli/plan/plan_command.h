#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti plan`: what fits on which device, how long a batch will take, and with --simulate how policies compare.
int run_plan(const std::vector<std::string>& arguments);

}  // namespace tutti
