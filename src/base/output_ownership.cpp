#include "base/output_ownership.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <span>

#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/new_file.h"
#include "base/owned.h"
#include "base/sha256.h"
#include "base/strings.h"
#include "base/try.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr int kMostLinks = 40;  // as Linux follows

/// Whether `path` is `folder` or in it; both resolved.
bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

/// A file with several names may be one of a folder's under another one.
bool has_other_names(const fs::path& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink > 1;
}

/// Whether what is at `path`, if anything, begins as files with this mark do, or holds nothing. Pipes and devices do.
bool has_mark(const fs::path& path, const std::string& mark) {
  constexpr std::size_t kHead = 512;
  std::error_code error;
  if (!is_taken(path) || fs::is_other(path, error)) return true;
  if (!fs::is_regular_file(path, error)) return false;  // a folder, or a link that leads nowhere
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string head(kHead, '\0');
  const auto count = file ? read_at(file.get(), std::as_writable_bytes(std::span(head)), 0, path.string())
                          : Result<std::size_t>(fail_errno(path.string(), "cannot be opened"));
  return count && (*count == 0 || head.find(mark) != std::string::npos);
}

/// Whether one of these files is somewhere in `folder`.
bool holds_any(const fs::path& folder, const std::set<FileNumber>& numbers) {
  if (numbers.empty()) return false;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end;
       !error && at != end; at.increment(error))
    if (const auto number = number_of(at->path()); number && numbers.contains(*number)) return true;
  return false;
}

}  // namespace

std::optional<FileNumber> number_of(const fs::path& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) return {};
  return FileNumber{facts.st_dev, facts.st_ino};
}

fs::path resolved_path(const fs::path& path) {
  std::error_code error;
  fs::path target = fs::absolute(path, error);
  // A link that leads nowhere: what is written there becomes what it names.
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, error) && !fs::exists(target, error); ++links) {
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = target.parent_path() / next;  // an absolute one replaces it
  }
  fs::path resolved = fs::weakly_canonical(target, error);
  if (error) resolved = target.lexically_normal();
  return resolved.has_filename() ? resolved : resolved.parent_path();  // "out/" is "out"
}

void OutputOwnership::add_input(const fs::path& path) {
  if (path.empty()) return;
  if (path == "-") {
    struct stat facts {};  // `< FILE`: that file is read; a pipe or a terminal is none
    if (::fstat(STDIN_FILENO, &facts) == 0 && S_ISREG(facts.st_mode)) numbers_.insert({facts.st_dev, facts.st_ino});
    return;
  }
  std::error_code error;
  if (fs::is_directory(path, error))
    folders_.push_back(resolved_path(path));
  else if (const auto number = number_of(path))
    numbers_.insert(*number);
  else
    missing_names_.insert(missing_.insert(resolved_path(path)).first->filename().string());
}

bool OutputOwnership::is_in_input_folder(const fs::path& output) const {
  if (folders_.empty()) return false;
  const fs::path resolved = resolved_path(output);
  if (std::ranges::any_of(folders_, [&](const fs::path& folder) { return is_below(resolved, folder); })) return true;
  if (!has_other_names(resolved)) return false;
  const auto number = number_of(resolved);
  return number && std::ranges::any_of(folders_, [&](const fs::path& in) { return holds_any(in, {*number}); });
}

bool OutputOwnership::is_input(const fs::path& output) const {
  // What is not there yet can only be an input that is not there either.
  if (const auto number = number_of(output)) return numbers_.contains(*number) || is_in_input_folder(output);
  if (missing_.empty()) return false;
  std::error_code error;
  const bool may_be = missing_names_.contains(output.filename().string()) || fs::is_symlink(output, error);
  return may_be && missing_.contains(resolved_path(output));
}

tl::unexpected<Error> OutputOwnership::refused(const fs::path& output, const std::string& why) const {
  return fail(Fault::usage, output.string() + " " + why, hint_);
}

Result<void> OutputOwnership::expect_no_input(const fs::path& output) const {
  if (is_input(output)) return refused(output, "is an input itself and would be overwritten");
  return {};
}

Result<void> OutputOwnership::expect_no_input_in(const fs::path& folder) const {
  const fs::path resolved = resolved_path(folder);
  const auto is_inside = [&](const fs::path& input) { return is_below(input, resolved); };
  if (const auto input = std::ranges::find_if(folders_, is_inside); input != folders_.end())
    return refused(folder, "is to be replaced, and " + input->string() + " is read");
  const auto number = number_of(resolved);
  const bool is_one = number && numbers_.contains(*number);
  if (is_one || std::ranges::any_of(missing_, is_inside) || holds_any(resolved, numbers_))
    return refused(folder, "is to be replaced, and an input is in it");
  return {};
}

/// resolved_path, in a fraction of its time where many files are claimed in one folder after another.
fs::path OutputOwnership::real_path_of(const fs::path& output) {
  std::error_code error;
  if (!output.has_filename() || fs::is_symlink(output, error)) return resolved_path(output);
  if (last_folder_ != folder_of(output)) {
    last_folder_ = folder_of(output);
    last_resolved_ = resolved_path(last_folder_);
  }
  return last_resolved_ / output.filename();
}

Result<void> OutputOwnership::claim(const fs::path& output, const std::string& owner) {
  if (auto free = expect_no_input(output); !free) return free;
  std::error_code error;
  if (fs::is_other(output, error)) return {};  // pipes and devices replace nothing, and may have several owners
  const auto [other, fresh] = owners_.emplace(real_path_of(output), owner);
  if (fresh) return {};
  return refused(output, "would be written twice: by " + other->second + " and by " + owner);
}

Result<void> OutputOwnership::expect_mark(const fs::path& output, const std::string& mark) const {
  if (has_mark(output, mark)) return {};
  return fail(Fault::usage, output.string() + " is there already and was not written by this command",
              "Move it away, or " + ascii_lower(hint_.substr(0, 1)) + hint_.substr(1));
}

Result<void> OutputOwnership::claim_marked(const fs::path& output, const std::string& owner, std::string mark) {
  auto claimed = claim(output, owner);
  if (claimed) claimed = expect_mark(output, mark);
  if (claimed) marks_[output] = std::move(mark);
  return claimed;
}

Result<bool> OutputOwnership::write(const fs::path& output, std::string_view content) const {
  auto free = expect_no_input(output);
  if (const auto found = marks_.find(output); free && found != marks_.end()) free = expect_mark(output, found->second);
  TRY(free);
  std::error_code error;
  const bool replaces = is_taken(output) && !fs::is_other(output, error);
  TRY(replace_file_atomically(output, content));
  return replaces;
}

std::string speech_mark(const fs::path& times) {
  return times.empty() ? kSpeechMark : std::string(kSpeechMark) + " with " + times.filename().string() + ";";
}

Result<void> expect_no_files(const fs::path& folder) {
  std::error_code error;
  const fs::directory_iterator first(folder, error);
  if (error == std::errc::no_such_file_or_directory || (!error && first == fs::directory_iterator())) return {};
  if (error) return tl::unexpected(system_error(folder.string(), "new files cannot go there", error.value()));
  return fail(Fault::usage, folder.string() + ": expected no files there yet, found " + first->path().string(),
              "Name another folder, or move them away");
}

Occupant occupant_of(const fs::path& path, const std::vector<KnownContent>& known) {
  std::error_code error;
  if (!is_taken(path)) return Occupant::none;
  const auto size = fs::file_size(path, error);  // size of what a link leads to
  if (error) return Occupant::other;
  const auto has_size = [&](const KnownContent& each) { return static_cast<std::uintmax_t>(each.bytes) == size; };
  if (std::ranges::none_of(known, has_size)) return Occupant::other;
  const auto content = read_regular_file(path);
  if (!content) return Occupant::other;
  const KnownContent found{sha256_of(*content), static_cast<std::int64_t>(content->size())};
  return std::ranges::find(known, found) == known.end() ? Occupant::other : Occupant::known;
}

fs::path name_beside(const fs::path& path, int number) {
  const std::string added = ".new" + (number > 1 ? std::to_string(number) : "") + path.extension().string();
  const std::string stem = path.stem().string();
  std::size_t length = std::min(stem.size(), NAME_MAX - std::min<std::size_t>(NAME_MAX, added.size()));
  const auto is_inside_character = [&](std::size_t at) {
    return at > 0 && at < stem.size() && (static_cast<unsigned char>(stem[at]) & 0xC0) == 0x80;
  };
  while (is_inside_character(length)) --length;
  return path.parent_path() / (stem.substr(0, length) + added);
}

Result<void> expect_other_out(const std::filesystem::path& out, const std::filesystem::path& input) {
  if (resolved_path(out) != resolved_path(input)) return {};
  return fail(Fault::usage,
              field("out") + " " + out.string() + ": " + input.string() + " is read, and not to be filled",
              "Name another folder with " + field("out"));
}

}  // namespace tutti
