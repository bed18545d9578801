#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"

struct ssl_ctx_st;

namespace tutti {

// What a server proves who it is with. Behind it is OpenSSL, which the rest of the program does not see.

/// A server's certificate and key, read and checked: empty for a server in the clear. Connections share it, and it goes
/// with the last of them; a renewed certificate is another identity. Thread-safe.
using TlsIdentity = std::shared_ptr<ssl_ctx_st>;

/// Where the two are, both in PEM form.
struct TlsFiles {
  /// The server's own certificate comes first, then those of its issuers up to one that clients know.
  std::filesystem::path certificate{};
  /// Without a passphrase: no one types it when the server starts.
  std::filesystem::path key{};
};

/// Reads and checks both; connections speak TLS 1.2 or later.
///
/// Fault::usage where one cannot be read, is something else, or the two do not belong together. A certificate that has
/// expired, and a key that every user may read, are warnings in the log: clients decide about the first, and an
/// administrator about the second. Errors name the file, what was expected of it, and how to get it.
/// Reads each file once; call it before the server starts. Thread-safe.
Result<TlsIdentity> read_tls_identity(const TlsFiles& files);

}  // namespace tutti
