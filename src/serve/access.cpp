#include "serve/access.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <span>

#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "base/random/kernel_random.h"
#include "base/sha256.h"
#include "base/strings.h"

namespace tutti {
namespace {

/// Compares every byte, so that the time does not depend on where two differ.
bool equal(std::string_view a, std::string_view b) {
  unsigned differences = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size(); ++i)
    differences |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? '\0' : b[i % b.size()]);
  return differences == 0;
}

void warn_where_others_read(const std::filesystem::path& file) {
  struct stat facts {};
  if (::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && (facts.st_mode & 077) != 0)
    log(Level::warning, file.string() + ": other users of this machine may read the tokens; chmod 600 it");
}

}  // namespace

Result<Access> Access::from_file(const std::filesystem::path& file) {
  const auto content = read_file(file);
  if (!content) return tl::unexpected<Error>(content.error());
  std::vector<std::string> tokens;
  for (const auto line : split(*content, '\n'))
    if (const auto token = trimmed(line); !token.empty()) tokens.emplace_back(token);
  if (tokens.empty())
    return fail(Fault::usage, file.string() + ": expected a token a line, found none",
                "Write one into it, such as the output of 'openssl rand -hex 24'");
  warn_where_others_read(file);
  return Access(std::move(tokens));
}

Result<Access> Access::from_state(const std::filesystem::path& state) {
  const auto file = state / "token";
  if (auto made = make_folders(state); !made) return tl::unexpected<Error>(made.error());
  const OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd && errno != EEXIST) return fail_errno(file.string(), "cannot be made");
  if (fd) {
    const std::string line = "tutti-" + random_token(24) + "\n";
    if (auto written = write_all(fd.get(), std::as_bytes(std::span(line)), file.string()); !written)
      return tl::unexpected<Error>(written.error());
  }
  return from_file(file);
}

std::string Access::fingerprint(std::size_t token) const {
  constexpr std::size_t kDigits = 12;
  return sha256_of("tutti client " + tokens_.at(token)).substr(0, kDigits);
}

std::optional<std::size_t> Access::token_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (ascii_lower(authorization.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  const auto given = trimmed(authorization.substr(kScheme.size()));
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if (equal(given, tokens_[i])) found = i;
  return found;
}

}  // namespace tutti
