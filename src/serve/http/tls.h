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

/// Reads both in PEM form: the server's certificate first, then those of its issuers; the key without a passphrase.
/// TLS 1.2 and later.
///
/// Fault::usage where one cannot be read, is something else, or the two do not belong together. A certificate that has
/// expired, and a key that every user may read, are warnings in the log: clients decide about the first, and an
/// administrator about the second.
Result<TlsIdentity> read_tls_identity(const std::filesystem::path& certificate, const std::filesystem::path& key);

}  // namespace tutti
