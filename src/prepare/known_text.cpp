#include "prepare/known_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/byte_order_mark.h"
#include "text/utf8.h"
#include "transcript/like_python.h"
#include "transcript/reference_text/caption_text.h"
#include "transcript/tidy.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Result<Subtitles> timed_text(const std::string& extension, const std::string& content) {
  if (extension != ".json") return read_subtitles(content);
  return read_untidy_transcript_json(content).map([](Transcript&& transcript) {
    Subtitles read;
    for (auto& segment : transcript.segments) {
      segment.text = tidy_lines(strip(segment.text));
      if (segment.text.empty()) continue;
      if (std::isnan(segment.start) || std::isnan(segment.end)) {
        segment.start = segment.end = 0;
        read.unusable.push_back({std::move(segment), "its start or its end is missing"});
        continue;
      }
      if (segment.end >= segment.start) {
        read.texts.push_back(std::move(segment));
        continue;
      }
      std::swap(segment.start, segment.end);
      read.unusable.push_back({std::move(segment), "its end is before its start"});
    }
    return read;
  });
}

/// Leaves what is spoken of the timed texts.
void keep_spoken(Subtitles& read) {
  std::vector<std::string> texts;
  for (const Segment& segment : read.texts) texts.push_back(segment.text);
  const auto spoken = spoken_texts(texts);
  std::vector<Segment> kept;
  for (std::size_t i = 0; i < spoken.size(); ++i) {
    Segment& segment = read.texts[i];
    if (spoken[i].empty()) {
      read.unusable.push_back({std::move(segment), "nothing in it is spoken: a sound description, music or a name"});
      continue;
    }
    segment.text = in_one_line(spoken[i]);
    kept.push_back(std::move(segment));
  }
  read.texts = std::move(kept);
  for (auto& unusable : read.unusable) unusable.segment.text = in_one_line(unusable.segment.text);
}

/// What is spoken of a text without times, whose lines keep their ends.
std::string spoken_of(std::string_view plain) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(plain, '\n')) lines.emplace_back(trimmed(line));
  return joined(spoken_texts(lines, {.parentheses_are_sounds = false}), "\n");
}

/// The whole file. Text of another encoding would silently become words that are not in the recording.
Result<std::string> read_utf8(const fs::path& file) {
  auto content = TRY(read_file(file));
  if (auto converted = utf8_of_utf16(content)) return std::move(*converted);
  std::size_t line = 1;
  for (std::size_t at = 0; at < content.size();) {
    const CodePoint point = code_point_at(content, at);
    if (!point.valid)
      return fail(Fault::corrupt,
                  file.string() + ", line " + std::to_string(line) + ": expected UTF-8, found other bytes",
                  "Convert it, for example with iconv -f latin1 -t utf-8");
    if (point.value == U'\n') ++line;
    at += point.size;
  }
  return std::string(without_mark(content));
}

Result<KnownText> read_text(const fs::path& file, const std::string& extension) {
  const auto content = TRY(read_utf8(file));
  if (extension == ".txt") {
    KnownText known{.file = file, .plain = spoken_of(content)};
    if (strip(known.plain).empty()) return fail(Fault::corrupt, file.string() + ": holds nothing that is spoken");
    return known;
  }
  auto timed = timed_text(extension, content);
  if (!timed) return fail_in(file.string(), timed.error());
  keep_spoken(*timed);
  if (timed->texts.empty()) return fail(Fault::corrupt, file.string() + ": holds nothing that is spoken");
  return KnownText{.file = file, .timed = std::move(timed->texts), .unusable = std::move(timed->unusable)};
}

/// The text's path and ending; none where there is no text.
std::optional<std::pair<fs::path, std::string>> text_file(const fs::path& recording, const fs::path& path) {
  for (const std::string extension : {".srt", ".vtt", ".json", ".txt"})
    for (const auto& name : {recording.stem(), recording.filename()}) {
      const auto file = path / (name.string() + extension);
      std::error_code ignored;
      if (fs::exists(file, ignored)) return std::pair(file, extension);
    }
  return {};
}

fs::path path_of_text(const fs::path& recording, const fs::path& folder) {
  return folder.empty() ? recording.parent_path() : folder;
}

/// "size time", as far as the file system reports them.
std::string stamp_of(const fs::path& file) {
  std::error_code ignored;
  const auto written = fs::last_write_time(file, ignored).time_since_epoch();
  return std::to_string(fs::file_size(file, ignored)) + " " + std::to_string(written.count());
}

}  // namespace

Result<KnownText> text_of_rows(const std::vector<TextRow>& rows) {
  const auto is_timed = [](const TextRow& row) { return row.start && row.end; };
  if (!std::ranges::all_of(rows, is_timed)) {
    if (rows.size() == 1) {
      KnownText known{.plain = spoken_of(rows.front().text)};
      if (!strip(known.plain).empty()) return known;
      return fail(Fault::corrupt, "its text holds nothing that is spoken");
    }
    return fail(Fault::corrupt,
                std::to_string(rows.size()) + " rows have texts of it, expected a start and an end in each",
                "Name the columns start and end, or offset and duration; or give its text in one row");
  }
  Subtitles read;
  for (const TextRow& row : rows) {
    Segment segment;
    segment.start = std::min(*row.start, *row.end);
    segment.end = std::max(*row.start, *row.end);
    segment.text = tidy_lines(strip(row.text));
    if (*row.end < *row.start)
      read.unusable.push_back({std::move(segment), "its end is before its start"});
    else if (!segment.text.empty())
      read.texts.push_back(std::move(segment));
  }
  keep_spoken(read);
  if (read.texts.empty()) return fail(Fault::corrupt, "its rows hold nothing that is spoken");
  return KnownText{.timed = std::move(read.texts), .unusable = std::move(read.unusable)};
}

std::string stamp_of_sources(const fs::path& recording, const fs::path& folder) {
  const auto text = text_file(recording, path_of_text(recording, folder));
  const std::string stamp = stamp_of_recording(recording);
  if (!text || stamp.empty()) return {};
  return stamp + "\n" + text->first.string() + "\n" + stamp_of(text->first);
}

std::string stamp_of_recording(const fs::path& recording) {
  std::error_code ignored;
  return fs::exists(recording, ignored) ? stamp_of(recording) : std::string();
}

Result<KnownText> known_text(const fs::path& recording, const fs::path& folder) {
  const auto path = path_of_text(recording, folder);
  if (const auto found = text_file(recording, path)) return read_text(found->first, found->second);
  return fail(Fault::missing, recording.string() + ": no text is in " + (path.empty() ? fs::path(".") : path).string(),
              "Expected " + recording.stem().string() + ".srt, .vtt, .json or .txt");
}

}  // namespace tutti
