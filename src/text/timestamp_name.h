#pragma once

#include <cstdint>
#include <string>

namespace tutti {

/// "<|1.08|>" for 54 steps of 0.02 s.
std::string timestamp_name(std::int32_t steps);

}  // namespace tutti
