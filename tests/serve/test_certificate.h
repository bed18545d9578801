#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/units.h"

namespace tutti {

/// A self-signed certificate for localhost and its key, in two files: "cert.pem" and "key.pem". `valid`: from now on;
/// negative: it has expired. `passphrase`: of the key; empty: none.
inline void write_certificate(const std::filesystem::path& folder, Seconds valid = Seconds(3600),
                              const std::string& passphrase = {}) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -86400);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), static_cast<long>(valid.count()));
  X509_NAME* name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  X509_set_pubkey(certificate.get(), key.get());
  ASSERT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> certificates(std::fopen((folder / "cert.pem").c_str(), "w"), close);
  ASSERT_EQ(PEM_write_X509(certificates.get(), certificate.get()), 1);
  const std::unique_ptr<std::FILE, decltype(close)> keys(std::fopen((folder / "key.pem").c_str(), "w"), close);
  const auto* phrase = passphrase.empty() ? nullptr : reinterpret_cast<const unsigned char*>(passphrase.data());
  ASSERT_EQ(PEM_write_PrivateKey(keys.get(), key.get(), phrase ? EVP_aes_256_cbc() : nullptr, phrase,
                                 static_cast<int>(passphrase.size()), nullptr, nullptr),
            1);
  ::chmod((folder / "key.pem").c_str(), 0600);
}

}  // namespace tutti
