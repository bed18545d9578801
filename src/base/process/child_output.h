#pragma once

#include <string>

#include "base/process/child.h"

namespace tutti {

/// What a program writes to its standard output; its standard error is ours. Blocks. Fault::missing when it is not
/// there, Fault::device when it fails, or is not done `within` that time and is killed; the text then has what it wrote
/// first.
Result<std::string> child_output(ChildOptions options, Seconds within);

}  // namespace tutti
