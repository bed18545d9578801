#include "diarize/rttm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/files.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/byte_order_mark.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::array<std::string_view, 13> kOtherTypes{"SEGMENT", "NOSCORE",    "NO_RT_METADATA", "LEXEME", "NON-LEX",
                                                       "SU",      "NON-SPEECH", "FILLER",         "EDIT",   "IP",
                                                       "CB",      "A/P",        "SPKR-INFO"};
constexpr std::size_t kFields = 8;  // as far as the speaker's name; those behind are left out by some programs

std::vector<std::string_view> fields_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  std::vector<std::string_view> fields;
  for (std::size_t at = line.find_first_not_of(kBlank); at != line.npos; at = line.find_first_not_of(kBlank, at)) {
    const std::size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end;
  }
  return fields;
}

/// Seconds from 0 on.
std::optional<double> seconds_in(std::string_view text) {
  const auto seconds = number_in<double>(text);
  return seconds && std::isfinite(*seconds) && *seconds >= 0 ? seconds : std::nullopt;
}

/// What a line expects and has instead; none where it is as it should be. Enters its turn.
std::optional<std::string> take_line(std::string_view line, RecordingTurns& recordings) {
  const auto found = [](std::string_view text) { return ", found '" + without_controls(text.substr(0, 60)) + "'"; };
  if (!is_utf8(line)) return "expected UTF-8, found other bytes";
  const auto fields = fields_of(line);
  if (fields.empty() || fields[0].starts_with(';') || std::ranges::find(kOtherTypes, fields[0]) != kOtherTypes.end())
    return std::nullopt;
  if (fields[0] != "SPEAKER") return "expected SPEAKER or another type of line that RTTM has" + found(fields[0]);
  if (fields.size() < kFields)
    return "expected SPEAKER, recording, channel, start, duration, <NA>, <NA>, speaker" + found(line);
  const auto start = seconds_in(fields[3]), duration = seconds_in(fields[4]);
  if (!start) return "expected the start in seconds from 0 on" + found(fields[3]);
  if (!duration) return "expected the duration in seconds from 0 on" + found(fields[4]);
  auto& turns = recordings[std::string(fields[1])];
  if (*duration > 0) turns.push_back({*start, *start + *duration, std::string(fields[7])});
  return std::nullopt;
}

}  // namespace

std::string rttm_field(std::string_view name) {
  std::string field(name);
  for (char& c : field)
    if (std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos) c = '_';
  return field.empty() ? "<NA>" : field;
}

Result<RecordingTurns> parse_rttm(std::string_view text, std::string_view file) {
  RecordingTurns recordings;
  std::size_t number = 0;
  for (const std::string_view line : split(without_mark(text), '\n')) {
    ++number;
    if (const auto wrong = take_line(line, recordings))
      return fail(Fault::corrupt, std::string(file) + ", line " + std::to_string(number) + ": " + *wrong);
  }
  return recordings;
}

Result<RecordingTurns> read_rttm(const std::filesystem::path& file) {
  const auto text = TRY(read_file(file));
  return parse_rttm(text, file.string());
}

std::string rttm_text(std::string_view recording, const std::vector<SpeakerTurn>& turns) {
  const auto milliseconds = [](double seconds) { return std::llround(seconds * 1000); };
  const auto seconds = [](long long value) { return fixed_text(static_cast<double>(value) / 1000, 3); };
  std::string text;
  for (const auto& turn : turns) {
    const auto start = milliseconds(turn.start), end = milliseconds(turn.end);
    text += "SPEAKER " + rttm_field(recording) + " 1 " + seconds(start) + " " + seconds(end - start) + " <NA> <NA> " +
            rttm_field(turn.speaker) + " <NA> <NA>\n";
  }
  return text;
}

}  // namespace tutti
