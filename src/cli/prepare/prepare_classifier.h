#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti prepare classifier`: the words behind it; returns the exit code.
int run_prepare_classifier(const std::vector<std::string>& words);

}  // namespace tutti
