#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

/// Writes all of `bytes` to the file `at` bytes from its start. False, with errno set, where the file does not take
/// them; some may have been written then. Thread-safe: no position is moved.
bool write_at(int file, std::span<const std::byte> bytes, std::int64_t at);

/// Fills `bytes` with what the file holds `at` bytes from its start. False where it does not hold that much, or cannot
/// be read. Thread-safe likewise.
bool read_at(int file, std::span<std::byte> bytes, std::int64_t at);

}  // namespace tutti
