#include "diarize/speaker_names.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/strings.h"
#include "diarize/rttm.h"
#include "text/utf8.h"
#include "transcript/like_python.h"
#include "transcript/subtitles.h"

namespace tutti {
namespace {

/// The line with the new name of the speaker in front of it, if one of these is.
std::string with_prefix(std::string_view line, const SpeakerNames& names) {
  for (const auto& [old, name] : names)
    if (const std::string prefix = speaker_prefix(old); line.starts_with(prefix))
      return speaker_prefix(name) + std::string(line.substr(prefix.size()));
  return std::string(line);
}

/// In subtitles only the first line of a cue has a speaker; it is below the times.
std::string renamed_lines(std::string_view content, bool has_cues, const SpeakerNames& names) {
  std::string out;
  bool may_have_speaker = !has_cues;
  while (!content.empty()) {
    const auto end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    out += may_have_speaker ? with_prefix(line, names) : std::string(line);
    if (has_cues) may_have_speaker = line.find("-->") != line.npos;
    if (end < content.size()) out += '\n';
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return out;
}

std::string renamed_turns(std::string_view content, const SpeakerNames& names) {
  constexpr int kSpeaker = 7;  // fields before it
  constexpr std::string_view kBlank = " \t\r";
  std::string out;
  while (!content.empty()) {
    const auto end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    std::size_t from = line.find_first_not_of(kBlank), to = line.find_first_of(kBlank, from);
    int field = 0;
    for (; field < kSpeaker && to != line.npos; ++field) {
      from = line.find_first_not_of(kBlank, to);
      to = from == line.npos ? from : line.find_first_of(kBlank, from);
    }
    const auto speaker = line.substr(std::min(from, line.size()), to == line.npos ? to : to - from);
    const auto found = std::ranges::find(names, speaker, [](const auto& one) { return rttm_field(one.first); });
    if (field == kSpeaker && line.starts_with("SPEAKER") && found != names.end())
      out.append(line.substr(0, from)).append(rttm_field(found->second)).append(line.substr(from + speaker.size()));
    else
      out += line;
    if (end < content.size()) out += '\n';
    content.remove_prefix(std::min(end + 1, content.size()));
  }
  return out;
}

/// The position behind the text in quotes that begins at `at`.
std::size_t end_of_text(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

/// Only a key has a colon behind it.
std::string renamed_json(std::string_view json, const SpeakerNames& names) {
  const auto behind_blank = [&](std::size_t at) {
    return std::min(json.find_first_not_of(" \t\r\n", at), json.size());
  };
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t quote = std::min(json.find('"', at), json.size());
    const std::size_t end = quote < json.size() ? end_of_text(json, quote) : quote;
    out += json.substr(at, end - at);
    at = end;
    if (json.substr(quote, end - quote) != "\"speaker\"") continue;
    std::size_t value = behind_blank(at);
    if (value == json.size() || json[value] != ':') continue;
    value = behind_blank(value + 1);
    if (value == json.size() || json[value] != '"') continue;
    const std::size_t behind = end_of_text(json, value);
    const std::string text(json.substr(value, behind - value));
    const auto name = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    const auto found = name.is_string() ? names.find(name.get<std::string>()) : names.end();
    const std::string_view between = json.substr(at, value - at);
    out += between;
    if (found == names.end())
      out += text;
    else  // answers of a server are compact and in UTF-8, files as Python writes them
      out += between == ":" ? json_line(nlohmann::json(found->second)) : json_text(found->second);
    at = behind;
  }
  return out;
}

}  // namespace

bool is_speaker_name(std::string_view name) {
  return trimmed(name) == name && !name.empty() && is_utf8(name) && without_controls(std::string(name)) == name;
}

std::vector<std::string> speakers_of(const Transcript& transcript) {
  std::vector<std::string> speakers;
  for (const Segment& segment : transcript.segments)
    if (!segment.speaker.empty() && std::ranges::find(speakers, segment.speaker) == speakers.end())
      speakers.push_back(segment.speaker);
  return speakers;
}

Result<void> check_speaker_names(const SpeakerNames& names, const std::vector<std::string>& speakers) {
  std::map<std::string, std::string> owners;  // by their new names
  for (const auto& [old, name] : names)
    if (std::ranges::find(speakers, old) == speakers.end())
      return fail(Fault::usage, "'" + old + "' is no speaker of this recording",
                  speakers.empty() ? "It has none" : "Its speakers are " + joined(speakers, ", "));
  for (const std::string& speaker : speakers) {
    const auto renamed = names.find(speaker);
    const std::string& name = renamed == names.end() ? speaker : renamed->second;
    const auto [owner, is_first] = owners.emplace(name, speaker);
    if (!is_first)
      return fail(Fault::usage,
                  "'" + name + "' would be the name of two speakers: " + owner->second + " and " + speaker,
                  "Choose another name");
  }
  return {};
}

std::string with_speaker_names(std::string_view content, Format format, const SpeakerNames& names) {
  switch (format) {
    case Format::txt: return renamed_lines(content, /*has_cues=*/false, names);
    case Format::vtt:
    case Format::srt: return renamed_lines(content, /*has_cues=*/true, names);
    case Format::rttm: return renamed_turns(content, names);
    case Format::json: return renamed_json(content, names);
    case Format::tsv: break;
  }
  return std::string(content);
}

}  // namespace tutti
