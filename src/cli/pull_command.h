#pragma once

#include <string>
#include <vector>

namespace tutti {

/// `tutti pull NAME`: fetches a model from a Hugging Face hub.
int run_pull(const std::vector<std::string>& arguments);

}  // namespace tutti
