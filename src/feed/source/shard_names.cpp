#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/owned.h"
#include "base/process/shell_command.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/layouts.h"

namespace tutti {
namespace {

std::optional<std::int64_t> number_of_digits(std::string_view digits) {
  std::int64_t number = 0;
  if (!is_all_digits(digits) || std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc())
    return std::nullopt;
  return number;
}

/// What is between braces comes to; nothing: it is a text.
std::vector<std::string> choices_of(std::string_view within, std::size_t most) {
  std::vector<std::string> choices;
  if (within.find(',') != std::string_view::npos) {
    for (const auto part : split(within, ',')) choices.emplace_back(part);
    if (within.ends_with(',')) choices.emplace_back();
    return choices;
  }
  const auto dots = within.find("..");
  if (dots == std::string_view::npos) return {};
  const std::string_view first_digits = within.substr(0, dots);
  const auto first = number_of_digits(first_digits), last = number_of_digits(within.substr(dots + 2));
  if (!first || !last || *last < *first || static_cast<std::uint64_t>(*last - *first) >= most) return {};
  for (std::int64_t number = *first; number <= *last; ++number) {
    const std::string digits = std::to_string(number);
    const bool is_padded = first_digits.starts_with('0');
    choices.push_back(
        std::string(is_padded ? first_digits.size() - std::min(digits.size(), first_digits.size()) : 0, '0') + digits);
  }
  return choices;
}

namespace fs = std::filesystem;

/// A lock file that goes with its owner.
class RemovedLock {
 public:
  RemovedLock(OwnedFd lock, std::string path) : lock_(std::move(lock)), path_(std::move(path)) {}
  RemovedLock(RemovedLock&&) = default;
  RemovedLock& operator=(RemovedLock&&) = delete;
  /// Removed before it is unlocked: who waits for it sees that it is gone.
  ~RemovedLock() {
    if (lock_) ::unlink(path_.c_str());
  }

 private:
  OwnedFd lock_;
  std::string path_;
};

/// Whether the file of that name is still the one that is open.
bool is_file_at(int file, const std::string& path) {
  struct stat open {
  }, named{};
  return ::fstat(file, &open) == 0 && ::stat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

/// Held while the command runs: others wait.
Result<RemovedLock> lock_beside(const fs::path& file) {
  const std::string path = file.string() + ".lock";
  for (;;) {
    OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!lock) return fail_errno(path, "cannot be opened");
    TRY(lock_file(lock.get(), path, "Set TUTTI_CACHE to a folder on a disk of this machine"));
    if (is_file_at(lock.get(), path)) return RemovedLock(std::move(lock), path);
  }
}

/// Runs it into `half`.
Result<void> run_into(const fs::path& half, const std::string& command) {
  log(Level::info, "reading a shard through its command: " + without_controls(command));
  const std::string redirected = "exec >" + shell_word(half.string()) + "\n" + command;
  const auto end = TRY(run_shell_command(redirected, "shard", [] { return true; }));
  std::error_code ignored;
  if (end.status != 0 || end.signal != 0)
    return fail(Fault::unavailable, "the command of a shard " + end.words + ": " + without_controls(command));
  if (fs::file_size(half, ignored) == 0)
    return fail(Fault::unavailable, "the command of a shard wrote nothing: " + without_controls(command));
  return {};
}

}  // namespace

std::vector<std::string> expand_braces(std::string_view pattern, std::size_t most) {
  for (auto open = pattern.find('{'); open != std::string_view::npos; open = pattern.find('{', open + 1)) {
    const auto close = pattern.find('}', open);
    if (close == std::string_view::npos) break;
    const auto choices = choices_of(pattern.substr(open + 1, close - open - 1), most);
    if (choices.empty()) continue;
    const auto rests = expand_braces(pattern.substr(close + 1), most);
    std::vector<std::string> all;
    if (choices.size() * rests.size() > most) return all;
    for (const std::string& choice : choices)
      for (const std::string& rest : rests) all.push_back(std::string(pattern.substr(0, open)) + choice + rest);
    return all;
  }
  return {std::string(pattern)};
}

Result<fs::path> file_of_pipe(const std::string& command) {
  const fs::path file = cache_folder() / "shards" / (sha256_of(command) + ".tar");
  if (is_there(file)) return file;
  TRY(make_folders(file.parent_path()));
  const auto lock = TRY(lock_beside(file));
  if (is_there(file)) return file;  // another process ran it meanwhile
  fs::path half = file;
  half += ".half";
  std::error_code failed;
  if (auto run = run_into(half, command); !run) {
    fs::remove(half, failed);
    return tl::unexpected<Error>(run.error());
  }
  fs::rename(half, file, failed);
  if (failed) return tl::unexpected<Error>(system_error(file.string(), "could not be put in place", failed.value()));
  return file;
}

}  // namespace tutti
