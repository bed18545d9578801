#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// The tokens that open this server: who has one of them may do all that clients can do. They are read once, at the
/// start, so that a new token needs a new start, and none is ever logged or sent back. A warning is logged where other
/// users of the machine can read the file. Thread-safe.
class Access {
 public:
  /// A token a line, with the blanks around it cut; empty lines do not count. Fault::usage where the file has none.
  static Result<Access> from_file(const std::filesystem::path& file);
  /// The token in `state`/token, made there (0600) where there is none yet.
  static Result<Access> from_state(const std::filesystem::path& state);

  /// Which token an Authorization header brings, by its line; none: no valid one. Takes as long for a wrong token as
  /// for a right one.
  std::optional<std::size_t> token_of(std::string_view authorization) const;
  /// Distinguishes a token from others, and does not show it: 12 hexadecimal digits. The same at every start.
  std::string fingerprint(std::size_t token) const;

 private:
  explicit Access(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {}

  std::vector<std::string> tokens_;
};

}  // namespace tutti
