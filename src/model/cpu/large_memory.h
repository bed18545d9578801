#pragma once

#include <cstddef>

namespace tutti {

/// Memory that is not initialised, from a cache line on; from 2 MiB on it lies on huge pages where the system has them:
/// what a decoder step reads from end to end is read twice as fast so. For std::free. Throws std::bad_alloc.
std::byte* allocate_large(std::size_t size);

}  // namespace tutti
