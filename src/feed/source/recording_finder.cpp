#include <algorithm>
#include <string_view>

#include "base/files.h"
#include "base/strings.h"
#include "feed/source/layouts.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

/// `stem` with the first of the known endings, in lower or upper case, under which there is a file.
std::optional<fs::path> with_known_ending(const fs::path& stem) {
  for (const bool in_capitals : {false, true})
    for (const std::string_view ending : recording_endings()) {
      fs::path audio = stem;
      audio += in_capitals ? ascii_upper(ending) : std::string(ending);
      if (is_file(audio)) return audio;
    }
  return std::nullopt;
}

std::optional<fs::path> find_at(const fs::path& named) {
  if (is_recording(named) && is_file(named)) return named;
  auto audio = with_known_ending(named);
  if (!audio && is_recording(named)) audio = with_known_ending(fs::path(named).replace_extension());
  if (!audio && named.has_extension() && is_file(named)) return named;
  return audio;
}

}  // namespace

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

RecordingFolders folders_of(const fs::path& base) {
  RecordingFolders folders{.base = base};
  if (is_there(base / "audio")) {
    folders.audio = base / "audio";
  } else if (is_there(base / "clips")) {
    folders.audio = base / "clips";
    folders.usual_ending = ".mp3";
  }
  return folders;
}

fs::path usual_path(const RecordingFolders& folders, const std::string& named) {
  const fs::path path(named);
  if (path.has_parent_path() || folders.audio.empty()) return folders.base / path;
  if (!folders.usual_ending.empty() && !path.has_extension()) return folders.audio / (named + folders.usual_ending);
  return folders.audio / path;
}

fs::path path_from_above(const fs::path& base, const std::string& named) {
  constexpr int kAbove = 3;  // data/train of a recipe is two below where it ran
  fs::path folder = base;
  for (int i = 0; i <= kAbove; ++i, folder /= "..")
    if (is_file(folder / named)) return folder / named;
  return is_file(named) ? fs::path(named) : base / named;
}

std::optional<fs::path> find_recording(const RecordingFolders& folders, const std::string& named) {
  const fs::path path(named);
  if (path.is_absolute()) return find_at(path);
  if (!folders.audio.empty())
    if (auto found = find_at(folders.audio / path)) return found;
  for (const char* name : {"wavs", "wav", "audio", "clips", ""}) {
    const fs::path folder = *name == '\0' ? folders.base : folders.base / name;
    if (folder == folders.audio || (*name != '\0' && !is_there(folder))) continue;
    if (auto found = find_at(folder / path)) return found;
  }
  if (path.lexically_normal().has_parent_path())
    if (auto found = find_at(folders.base / ".." / path)) return found;
  if (named.find('\\') == std::string::npos) return std::nullopt;
  std::string with_slashes = named;
  std::ranges::replace(with_slashes, '\\', '/');
  return find_recording(folders, with_slashes);
}

}  // namespace tutti
