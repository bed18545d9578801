#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti doctor`: what this machine has, what is missing, and what to do about it.
int run_doctor(const std::vector<std::string>& arguments);

}  // namespace tutti
