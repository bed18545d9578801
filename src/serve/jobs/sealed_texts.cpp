#include "serve/jobs/sealed_texts.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/files.h"
#include "base/hex.h"
#include "base/owned.h"
#include "base/random/kernel_random.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::string_view kMark = "sealed:";
constexpr std::size_t kNonce = 12, kTag = 16;  // bytes before and behind the ciphertext

using ByteList = std::vector<unsigned char>;
struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_in(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

/// A broken promise of OpenSSL's: no text makes these fail.
void expect(bool done) {
  if (!done) throw std::runtime_error("AES-256-GCM is not available");
}

/// A new key, unless there is one: whole or not at all, and of two processes that make one, the first one's.
Result<void> make_key(const std::filesystem::path& file) {
  if (std::error_code ignored; std::filesystem::exists(file, ignored)) return {};
  const std::string staged = file.string() + "." + random_token(4);
  const OwnedFd fd(::open(staged.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(file.string(), "cannot be made");
  const std::string line = random_token(SealedTexts::kKeyBytes) + "\n";
  auto written = write_all(fd.get(), std::as_bytes(std::span(line)), file.string());
  if (written && (::fsync(fd.get()) != 0 || (::link(staged.c_str(), file.c_str()) != 0 && errno != EEXIST)))
    written = fail_errno(file.string(), "cannot be made");
  ::unlink(staged.c_str());
  return written;
}

}  // namespace

Result<SealedTexts> SealedTexts::open(const std::filesystem::path& file) {
  TRY(make_key(file));
  const auto content = TRY(read_regular_file(file));
  const auto bytes = bytes_of_hex(trimmed(content));
  Key key{};
  if (!bytes || bytes->size() != key.size())
    return fail(Fault::corrupt, file.string() + ": expected a key of 64 hexadecimal digits, found something else",
                "Move it away: a new one is made, and jobs that wait for an address have to be sent again");
  std::ranges::copy(std::span(bytes_in(*bytes), bytes->size()), key.begin());
  return SealedTexts(key);
}

std::string SealedTexts::seal(std::string_view text) const {
  ByteList sealed(kNonce + text.size() + kTag);
  fill_random(std::span(sealed).first(kNonce));
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  expect(EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), sealed.data()) == 1);
  expect(EVP_EncryptUpdate(context.get(), sealed.data() + kNonce, &size, bytes_in(text),
                           static_cast<int>(text.size())) == 1);
  expect(EVP_EncryptFinal_ex(context.get(), sealed.data() + kNonce + text.size(), &size) == 1);
  expect(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, sealed.data() + kNonce + text.size()) == 1);
  return std::string(kMark) + hex_of({reinterpret_cast<const char*>(sealed.data()), sealed.size()});
}

std::optional<std::string> SealedTexts::unseal(std::string_view sealed) const {
  if (!sealed.starts_with(kMark)) return std::string(sealed);
  auto bytes = bytes_of_hex(sealed.substr(kMark.size()));
  if (!bytes || bytes->size() < kNonce + kTag) return std::nullopt;
  const std::size_t length = bytes->size() - kNonce - kTag;
  std::string text(length, '\0');
  auto* out = reinterpret_cast<unsigned char*>(text.data());
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  expect(EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), bytes_in(*bytes)) == 1);
  expect(EVP_DecryptUpdate(context.get(), out, &size, bytes_in(*bytes) + kNonce, static_cast<int>(length)) == 1);
  expect(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, bytes->data() + kNonce + length) == 1);
  return EVP_DecryptFinal_ex(context.get(), out + length, &size) == 1 ? std::optional(text) : std::nullopt;
}

}  // namespace tutti
