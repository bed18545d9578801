#include "serve/access.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/files.h"
#include "base/log.h"
#include "base/new_file.h"
#include "base/owned.h"
#include "base/random/kernel_random.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kShownDigits = 6;  // of a fingerprint, in a name

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

/// Distinguishes a token from others: 12 hexadecimal digits.
std::string fingerprint_of(const std::string& token) {
  constexpr std::size_t kDigits = 12;
  return sha256_of("tutti client " + token).substr(0, kDigits);
}

}  // namespace

Result<std::vector<Access::Entry>> Access::read(const std::filesystem::path& file) {
  const auto content = TRY(read_file(file));
  std::vector<Entry> entries;
  for (const auto text : split(content, '\n')) {
    const auto line = trimmed(text);
    const auto blank = line.find_first_of(" \t");
    const std::string token(blank == std::string_view::npos ? line : trimmed(line.substr(blank)));
    if (token.find_first_of(" \t") != std::string::npos)
      return fail(Fault::usage, file.string() + ": expected a token a line, or a name and a token, found more words");
    if (token.empty() || std::ranges::find(entries, token, &Entry::token) != entries.end()) continue;
    const std::string fingerprint = fingerprint_of(token);
    const std::string name(blank == std::string_view::npos ? "token-" + fingerprint.substr(0, kShownDigits)
                                                           : std::string(line.substr(0, blank)));
    entries.push_back({token, {.name = name, .fingerprint = fingerprint}});
  }
  if (entries.empty())
    return fail(Fault::usage, file.string() + ": expected a token a line, found none",
                "Write one into it, such as the output of 'openssl rand -hex 24'");
  warn_where_others_read(file);
  return entries;
}

Result<Access> Access::from_file(const std::filesystem::path& file) {
  auto entries = TRY(read(file));
  return Access(std::move(entries));
}

Result<void> Access::add_operators(const std::filesystem::path& file) {
  auto operators = TRY(read(file));
  for (Entry& entry : entries_) entry.client.is_operator = false;
  for (Entry& entry : operators) {
    entry.client.is_operator = true;
    std::erase_if(entries_, [&](const Entry& other) { return other.token == entry.token; });
    entries_.push_back(std::move(entry));
  }
  return {};
}

Result<Access> Access::from_state(const std::filesystem::path& state) {
  const auto file = state / "token";
  TRY(make_private_folder(state));
  const OwnedFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd && errno != EEXIST) return fail_errno(file.string(), "cannot be made");
  if (fd) {
    const std::string line = "tutti-" + random_token(24) + "\n";
    TRY(write_all(fd.get(), std::as_bytes(std::span(line)), file.string()));
  }
  return from_file(file);
}

std::optional<ApiClient> Access::client_of(std::string_view authorization) const {
  constexpr std::string_view kScheme = "bearer ";
  if (ascii_lower(authorization.substr(0, kScheme.size())) != kScheme) return std::nullopt;
  const auto given = trimmed(authorization.substr(kScheme.size()));
  const Entry* found = nullptr;
  for (const Entry& entry : entries_)
    if (equal(given, entry.token)) found = &entry;
  return found ? std::optional(found->client) : std::nullopt;
}

}  // namespace tutti
