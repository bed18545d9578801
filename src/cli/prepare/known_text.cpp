#include "cli/prepare/known_text.h"

#include <optional>
#include <utility>

#include "base/files.h"
#include "text/utf8.h"
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

/// The whole file. Text of another encoding would become words that nobody says, in silence.
Result<std::string> read_utf8(const fs::path& file) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  auto content = read_file(file);
  if (!content) return tl::unexpected(content.error());
  std::size_t line = 1;
  for (std::size_t at = 0; at < content->size();) {
    const CodePoint point = code_point_at(*content, at);
    if (!point.valid)
      return fail(Fault::corrupt,
                  file.string() + ", line " + std::to_string(line) + ": expected UTF-8, found other bytes",
                  "Convert it, for example with iconv -f latin1 -t utf-8");
    if (point.value == U'\n') ++line;
    at += point.size;
  }
  return content->starts_with(kMark) ? content->substr(kMark.size()) : std::move(*content);
}

Result<KnownText> read_text(const fs::path& file, const std::string& extension) {
  const auto content = read_utf8(file);
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
