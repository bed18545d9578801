#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace tutti {

/// Who has a token that opens this server.
struct ApiClient {
  std::string name{};         ///< for logs and people: the word before the token in its line, else "token-" and digits
  std::string fingerprint{};  ///< distinguishes it from others, and does not show its token; the same at every start
  bool is_operator = false;   ///< steers devices and the work of all clients; others steer their own work
};

/// The tokens that open this server. They are read once, at the start, so that a new token needs a new start, and none
/// is ever logged or sent back. A warning is logged where other users of the machine can read the file. Where no
/// operators are named, a token that is the only one is an operator's, and of several none is. Thread-safe once made.
class Access {
 public:
  /// A token a line, or a name and a token; blanks around them do not count, nor do empty lines. Fault::usage where
  /// the file has none, or a line has more words.
  static Result<Access> from_file(const std::filesystem::path& file);
  /// The token in `state`/token, made there (0600) where there is none yet.
  static Result<Access> from_state(const std::filesystem::path& state);

  /// Takes those of `file`, of the same form, as the operators: they open the server, and no other token steers what
  /// is not its own.
  Result<void> add_operators(const std::filesystem::path& file);

  /// Whose token an Authorization header brings; none: no valid one. Takes as long for a wrong token as for a right
  /// one.
  std::optional<ApiClient> client_of(std::string_view authorization) const;

 private:
  struct Entry {
    std::string token{};
    ApiClient client{};
  };
  static Result<std::vector<Entry>> read(const std::filesystem::path& file);
  explicit Access(std::vector<Entry> entries) : entries_(std::move(entries)) {
    if (entries_.size() == 1) entries_.front().client.is_operator = true;
  }

  std::vector<Entry> entries_;
};

}  // namespace tutti
