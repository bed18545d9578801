#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti features FILE...`: decodes audio, finds its speech where asked to, and computes log-mel features; says what
/// they are and how fast it went. Needs no model.
int run_features(const std::vector<std::string>& arguments);

}  // namespace tutti
