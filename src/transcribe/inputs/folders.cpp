#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "base/strings.h"
#include "text/manifest/recording_names.h"
#include "transcribe/inputs/inputs.h"

namespace tutti {

namespace fs = std::filesystem;

namespace {

/// A search that remembers which folders it has seen, so that a link to a parent does not send it round.
class Search {
 public:
  Search(bool all_files, const FolderSink& sink, FolderTally& tally)
      : all_files_(all_files), sink_(sink), tally_(tally) {}

  bool walk(const fs::path& folder) {
    struct stat facts {};
    if (::stat(folder.c_str(), &facts) != 0 || !seen_.emplace(facts.st_dev, facts.st_ino).second) return true;
    std::vector<fs::path> names;
    std::error_code why;
    for (fs::directory_iterator entry(folder, why), end; !why && entry != end; entry.increment(why))
      names.push_back(entry->path());
    if (why) sink_.problem({Fault::missing, folder.string() + ": the folder cannot be read: " + why.message()});
    std::ranges::sort(names);
    return std::ranges::all_of(names, [this](const fs::path& path) { return look_at(path); });
  }

 private:
  /// Whether to go on.
  bool look_at(const fs::path& path) {
    if (!all_files_ && path.filename().native().starts_with('.')) return ++tally_.hidden, true;
    std::error_code missing;  // a link that leads nowhere is taken, so that it is reported
    const auto type = fs::status(path, missing).type();
    if (type == fs::file_type::directory) return walk(path);
    if (type != fs::file_type::regular && type != fs::file_type::not_found && type != fs::file_type::none)
      return ++tally_.special, true;
    if (!all_files_ && !is_recording(path)) {
      ++tally_.other_names;
      ++tally_.other_endings[ascii_lower(path.extension().string())];
      return true;
    }
    ++tally_.taken;
    return sink_.found(path);
  }

  const bool all_files_;
  const FolderSink& sink_;
  FolderTally& tally_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

/// The folder before the first wildcard of a pattern.
fs::path fixed_part(const std::string& pattern) {
  const std::size_t slash = pattern.rfind('/', pattern.find_first_of("*?[{"));
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : pattern.substr(0, slash);
}

using Names = std::span<const fs::path>;

/// Name by name, as the shell's globstar: ** matches any number of folders.
bool fits(Names pattern, Names path) {
  if (pattern.empty()) return path.empty();
  if (pattern[0] == "**") return fits(pattern.subspan(1), path) || (!path.empty() && fits(pattern, path.subspan(1)));
  return !path.empty() && ::fnmatch(pattern[0].c_str(), path[0].c_str(), FNM_PERIOD) == 0 &&
         fits(pattern.subspan(1), path.subspan(1));
}

std::vector<fs::path> names_of(const fs::path& path) {
  return {path.begin(), path.end()};
}

/// "a{b,c}d" is abd and acd; a pattern without braces is itself.
std::vector<std::string> without_braces(const std::string& pattern) {
  const auto close = pattern.find('}');
  const auto open = close == std::string::npos ? close : pattern.rfind('{', close);
  if (open == std::string::npos) return {pattern};
  std::vector<std::string> all;
  for (auto at = open + 1; at <= close;) {
    const auto end = std::min(pattern.find(',', at), close);
    for (auto& one : without_braces(pattern.substr(0, open) + pattern.substr(at, end - at) + pattern.substr(close + 1)))
      all.push_back(std::move(one));
    at = end + 1;
  }
  return all;
}

std::vector<fs::path> expand_deep(const std::string& pattern, bool all_files) {
  const fs::path start = fixed_part(pattern);
  const auto wanted =
      names_of(start == "." && !pattern.starts_with("./") ? fs::path(".") / pattern : fs::path(pattern));
  std::vector<fs::path> found;
  const auto match = [&](const fs::path& file) {
    if (fits(wanted, names_of(file))) found.push_back(file);
    return true;
  };
  FolderTally ignored;
  search_folder(start, all_files, {match, [](Error&&) {}}, ignored);
  return found;
}

}  // namespace

void search_folder(const fs::path& folder, bool all_files, const FolderSink& sink, FolderTally& tally) {
  Search(all_files, sink, tally).walk(folder);
}

std::string endings_text(const std::map<std::string, std::int64_t>& endings) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::pair<std::string, std::int64_t>> frequent(endings.begin(), endings.end());
  std::ranges::stable_sort(frequent, std::ranges::greater{}, &std::pair<std::string, std::int64_t>::second);
  std::int64_t others = 0;
  std::vector<std::string> named;
  for (const auto& [ending, count] : frequent) {
    if (named.size() == kMostNamed)
      others += count;
    else
      named.push_back(std::to_string(count) + " " + (ending.empty() ? "without an ending" : ending));
  }
  if (others > 0) named.push_back(std::to_string(others) + " others");
  return joined(named, ", ");
}

std::string folder_text(const FolderTally& tally) {
  if (tally.left_out() == 0) return {};
  const std::pair<std::int64_t, std::string> reasons[] = {
      {tally.other_names, " not audio by name (" + endings_text(tally.other_endings) + ")"},
      {tally.hidden, " hidden"},
      {tally.special, " pipes, sockets or devices"}};
  std::string text;
  for (const auto& [count, reason] : reasons)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + reason;
  return std::to_string(tally.taken) + " of " + std::to_string(tally.taken + tally.left_out()) + " taken; " + text;
}

std::vector<fs::path> expand_glob(const std::string& pattern, bool all_files) {
  std::vector<fs::path> found;
  if (pattern.find("**/") != std::string::npos) {
    for (const auto& one : without_braces(pattern))
      std::ranges::move(expand_deep(one, all_files), std::back_inserter(found));
    return found;
  }
  glob_t matches{};
  if (::glob(pattern.c_str(), GLOB_BRACE | GLOB_TILDE, nullptr, &matches) == 0)
    found.assign(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  return found;
}

fs::path glob_root(const std::string& pattern) {
  const fs::path fixed = fixed_part(pattern);
  const auto found = expand_glob(fixed);  // "~/talks" is called otherwise
  return found.empty() ? fixed : found.front();
}

}  // namespace tutti
