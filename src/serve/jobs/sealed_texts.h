#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tutti {

/// Texts that a store must not have in the clear, such as an address whose query lets its reader in: AES-256-GCM with a
/// key in a file beside the store. A copy of the store alone does not show them; who can read both sees them. The key
/// stays for as long as texts that it sealed are wanted: another key reads none of them. Immutable; thread-safe.
class SealedTexts {
 public:
  static constexpr std::size_t kKeyBytes = 32;

  /// The key in `file`, made there (0600) where there is none yet. Fault::corrupt: the file holds something else.
  static Result<SealedTexts> open(const std::filesystem::path& file);

  /// "sealed:" and hexadecimal digits; another one each time.
  std::string seal(std::string_view text) const;
  /// What was sealed; a text that was not is returned as it is. None: by another key, or changed.
  std::optional<std::string> unseal(std::string_view sealed) const;

 private:
  using Key = std::array<unsigned char, kKeyBytes>;
  explicit SealedTexts(const Key& key) : key_(key) {}

  Key key_;
};

}  // namespace tutti
