#include "cli/prepare/known_text.h"

#include <optional>
#include <utility>

#include "base/files.h"
#include "transcript/known/subtitle_reader.h"
#include "transcript/like_python.h"
#include "transcript/transcript_json.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Segment>> timed_text(const std::string& extension, const std::string& content) {
  if (extension != ".json") return read_subtitles(content);
  return read_transcript_json(content).map([](Transcript&& transcript) {
    for (auto& segment : transcript.segments) segment.text = strip(segment.text);
    std::erase_if(transcript.segments, [](const Segment& segment) { return segment.text.empty(); });
    return std::move(transcript.segments);
  });
}

Result<KnownText> read_text(const fs::path& file, const std::string& extension) {
  const auto content = read_file(file);
  if (!content) return tl::unexpected(content.error());
  if (extension == ".txt") {
    if (strip(*content).empty()) return fail(Fault::corrupt, file.string() + ": is empty");
    return KnownText{.file = file, .plain = *content};
  }
  auto timed = timed_text(extension, *content);
  if (!timed) return fail_in(file.string(), timed.error());
  return KnownText{.file = file, .timed = std::move(*timed)};
}

/// The text's place and ending; none where there is no text.
std::optional<std::pair<fs::path, std::string>> text_file(const fs::path& recording, const fs::path& place) {
  for (const std::string extension : {".srt", ".vtt", ".json", ".txt"})
    for (const auto& name : {recording.stem(), recording.filename()}) {
      const auto file = place / (name.string() + extension);
      std::error_code ignored;
      if (fs::exists(file, ignored)) return std::pair(file, extension);
    }
  return {};
}

fs::path place_of_text(const fs::path& recording, const fs::path& folder) {
  return folder.empty() ? recording.parent_path() : folder;
}

/// "size time", as far as the file can be asked.
std::string stamp_of(const fs::path& file) {
  std::error_code ignored;
  const auto written = fs::last_write_time(file, ignored).time_since_epoch();
  return std::to_string(fs::file_size(file, ignored)) + " " + std::to_string(written.count());
}

}  // namespace

std::string stamp_of_sources(const fs::path& recording, const fs::path& folder) {
  const auto text = text_file(recording, place_of_text(recording, folder));
  std::error_code ignored;
  if (!text || !fs::exists(recording, ignored)) return {};
  return stamp_of(recording) + "\n" + text->first.string() + "\n" + stamp_of(text->first);
}

Result<KnownText> known_text(const fs::path& recording, const fs::path& folder) {
  const auto place = place_of_text(recording, folder);
  if (const auto found = text_file(recording, place)) return read_text(found->first, found->second);
  return fail(Fault::missing,
              recording.string() + ": no text lies in " + (place.empty() ? fs::path(".") : place).string(),
              "Expected " + recording.stem().string() + ".srt, .vtt, .json or .txt");
}

}  // namespace tutti
