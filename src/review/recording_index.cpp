#include "review/recording_index.h"

#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// The files that a batch finds in a folder, and .ts, which a batch takes by name only: in a folder of programs that is
/// TypeScript.
bool may_have_a_transcript(const fs::path& file) {
  return is_recording(file) || file.extension() == ".ts";
}

/// Folders at the end of both paths that are named alike.
std::size_t common_end(const fs::path& a, const fs::path& b) {
  std::vector<fs::path> x(a.begin(), a.end()), y(b.begin(), b.end());
  std::size_t count = 0;
  while (count < x.size() && count < y.size() && x[x.size() - 1 - count] == y[y.size() - 1 - count]) ++count;
  return count;
}

}  // namespace

RecordingIndex::RecordingIndex(const fs::path& root) : has_root_(!root.empty()) {
  if (!has_root_) return;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied | fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator at(root, options, error), end; !error && at != end; at.increment(error))
    if (at.depth() > 64)
      at.disable_recursion_pending();  // a link that leads back
    else
      add(by_name_, at->path());
}

void RecordingIndex::add(ByName& by_name, const fs::path& file) {
  std::error_code ignored;
  if (!may_have_a_transcript(file) || !fs::is_regular_file(file, ignored)) return;
  by_name.emplace(file.filename().string(), file);
  by_name.emplace(file.stem().string(), file);
}

RecordingIndex::ByName RecordingIndex::beside(const fs::path& folder) {
  ByName found;
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end; at.increment(error))
    add(found, at->path());
  return found;
}

std::optional<fs::path> RecordingIndex::recording_of(const fs::path& transcript) const {
  const ByName near = has_root_ ? ByName{} : beside(transcript.parent_path());
  const ByName& known = has_root_ ? by_name_ : near;
  const auto [first, last] = known.equal_range(transcript.stem().string());
  const auto likeness = [&](const auto& entry) {
    return common_end(entry.second.parent_path(), fs::absolute(transcript).parent_path());
  };
  if (first == last) return std::nullopt;
  auto best = first;
  bool open = false;
  for (auto at = std::next(first); at != last; ++at) {
    if (likeness(*at) > likeness(*best))
      open = false;
    else if (likeness(*at) == likeness(*best)) {
      open = true;
      continue;
    } else
      continue;
    best = at;
  }
  return open ? std::nullopt : std::optional(best->second);
}

}  // namespace tutti
