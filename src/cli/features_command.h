#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti features FILE...`: decodes audio, finds its speech on request, and computes log-mel features; prints what
/// they are and how fast it went. Needs no model.
int run_features(const std::vector<std::string>& arguments);

}  // namespace tutti
