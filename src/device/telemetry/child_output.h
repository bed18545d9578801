#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace tutti {

/// What a program writes to its standard output. Fault::missing when it is not there, Fault::device when it fails or
/// takes longer than `longest`; it is then killed.
Result<std::string> child_output(const std::vector<std::string>& command, Seconds longest);

}  // namespace tutti
