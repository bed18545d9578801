#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

/// SHA-256 (FIPS 180-4), fed piece by piece.
class Sha256 {
 public:
  void update(std::span<const std::byte> bytes);

  /// The digest of everything so far, as 64 lower-case hexadecimal digits. More may follow.
  std::string hex() const;

 private:
  void mix(const std::byte* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> pending_{};
  std::uint64_t size_ = 0;  // bytes so far; the last size_ % 64 of them wait in pending_
};

/// The digest of bytes that are all there, as Sha256::hex().
std::string sha256_of(std::string_view bytes);

}  // namespace tutti
