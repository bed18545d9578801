#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/process/child.h"

namespace tutti {

/// Where a program that runs for its output is killed.
struct OutputLimits {
  Seconds within{};               // it is not done by then
  std::size_t bytes = 1 << 20;    // it has written more
  std::function<bool()> go_on{};  // returns false, which is looked at ten times a second; none: nothing cancels it
};

/// What a program writes to its standard output; its standard error is ours. Blocks. Fault::missing when it is not
/// there, Fault::cancelled when `go_on` returned false, Fault::device when it fails or reaches another limit; the text
/// then has what it wrote first.
Result<std::string> child_output(ChildOptions options, const OutputLimits& limits);

}  // namespace tutti
