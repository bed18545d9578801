#include "serve/http/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "base/try.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

template <class T, auto release>
struct Released {
  void operator()(T* owned) const { release(owned); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, Released<EVP_PKEY, EVP_PKEY_free>>;
using OwnedBytes = std::unique_ptr<BIO, Released<BIO, BIO_free_all>>;

/// What OpenSSL has against the last call, and nothing of it stays for the next.
std::string reason_of_openssl() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  std::string text = reason ? reason : "no reason is known";
  ERR_clear_error();
  return text;
}

tl::unexpected<Error> unusable(const fs::path& file, std::string what, std::string hint = {}) {
  ERR_clear_error();
  return fail(Fault::usage, file.string() + ": " + std::move(what), std::move(hint));
}

/// Without it OpenSSL would request a passphrase at the terminal.
int no_passphrase(char*, int, int, void* was_requested) {
  *static_cast<bool*>(was_requested) = true;
  return -1;
}

Result<OwnedKey> read_key(const fs::path& file, const std::string& text) {
  const OwnedBytes bytes(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
  bool encrypted = false;
  OwnedKey key(PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_passphrase, &encrypted));
  if (key) return key;
  if (encrypted)
    return unusable(file, "its key has a passphrase, expected one without",
                    "Write one without: openssl pkey -in " + file.string() + " -out NEW.pem");
  if (text.find("PRIVATE KEY-----") == std::string::npos)
    return unusable(file, "expected a private key in PEM form (-----BEGIN PRIVATE KEY-----), found none");
  return unusable(file, "its private key cannot be read: " + reason_of_openssl());
}

Result<void> use_certificates(ssl_ctx_st* context, const fs::path& file, const std::string& text) {
  if (SSL_CTX_use_certificate_chain_file(context, file.c_str()) == 1) return {};
  if (text.find("CERTIFICATE-----") == std::string::npos)
    return unusable(file, "expected certificates in PEM form (-----BEGIN CERTIFICATE-----), found none");
  return unusable(file, "its certificate cannot be used: " + reason_of_openssl());
}

void warn_of_what_clients_refuse(const fs::path& certificate, const fs::path& key, ssl_ctx_st* context) {
  const X509* own = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
    log(Level::warning, certificate.string() + ": the certificate has expired; clients will refuse it");
  else if (X509_cmp_current_time(X509_get0_notBefore(own)) > 0)
    log(Level::warning, certificate.string() + ": the certificate is not valid yet; clients will refuse it");
  struct stat facts {};
  if (::stat(key.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & S_IROTH) != 0)
    log(Level::warning, key.string() + ": every user of this machine may read the key; chmod 600 it");
}

}  // namespace

Result<TlsIdentity> read_tls_identity(const TlsFiles& files) {
  const auto& [certificate, key] = files;
  ERR_clear_error();
  const auto certificates = read_file(certificate), keys = read_file(key);
  for (const auto& text : {certificates, keys})
    if (!text) return fail(Fault::usage, text.error().what, text.error().hint);
  TlsIdentity context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context) return fail(Fault::internal, "TLS cannot be set up: " + reason_of_openssl());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // those who wait for events are many
  TRY(use_certificates(context.get(), certificate, *certificates));
  auto own = TRY(read_key(key, *keys));
  if (X509_check_private_key(SSL_CTX_get0_certificate(context.get()), own.get()) != 1)
    return unusable(key, "it is not the key of the first certificate in " + certificate.string(),
                    "The server's own certificate comes first in its file, those of its issuers follow");
  if (SSL_CTX_use_PrivateKey(context.get(), own.get()) != 1)
    return unusable(key, "its private key cannot be used: " + reason_of_openssl());
  warn_of_what_clients_refuse(certificate, key, context.get());
  return context;
}

}  // namespace tutti
