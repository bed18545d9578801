#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "train/network/parameters.h"

namespace tutti {

/// Copies on the CPU, which training may not change any more.
std::vector<Parameter> copies(const std::vector<Parameter>& tensors);

/// What is written is copied first, for which memory may be too short: then Fault::exhausted, which names `what`.
Result<void> write_copies(const std::string& what, const std::function<Result<void>()>& write);

}  // namespace tutti
