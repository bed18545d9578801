#pragma once

#include "base/error.h"

namespace tutti {

/// A port of this machine without a listener: the system hands out another one at every call.
Result<int> free_port();

}  // namespace tutti
