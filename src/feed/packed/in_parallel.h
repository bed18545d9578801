#pragma once

#include <cstdint>
#include <functional>

#include "base/error.h"

namespace tutti {

/// Calls `work(i)` for every i of [0, count), on `threads` threads (the caller's one of them), and waits for them. The
/// first error ends it, and so does an exception, which becomes one.
Result<void> in_parallel(std::int64_t count, int threads, const std::function<Result<void>(std::int64_t)>& work);

}  // namespace tutti
