#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti batch`: many recordings on many devices, with nothing lost.
int run_batch_command(const std::vector<std::string>& arguments);

}  // namespace tutti
