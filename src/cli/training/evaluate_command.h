#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti evaluate --model DIR --data DIR`: error rates of a model over recordings with texts.
int run_evaluate(const std::vector<std::string>& arguments);

}  // namespace tutti
