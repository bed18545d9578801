#include "feed/source/list_columns.h"

#include <algorithm>

#include "feed/source/line_index.h"
#include "text/manifest/csv.h"

namespace tutti {
namespace {

using Names = std::vector<std::string>;

/// What the id of a recording is called, where it also is the name of its file.
constexpr std::array kFileIds{"id",           "uuid",    "fileid",    "file_id",  "wav_id", "utt_id",
                              "utterance_id", "clip_id", "sample_id", "audio_id", "utt"};

/// All columns that are called one of `names`, in the order of these.
std::vector<int> all_columns(const Names& header, std::span<const char* const> names) {
  std::vector<int> found;
  for (const char* name : names)
    if (const int column = column_of(header, {&name, 1});
        column >= 0 && std::ranges::find(found, column) == found.end())
      found.push_back(column);
  return found;
}

/// Adds the columns to those found before.
void append_columns(std::vector<int>& found, const Names& header, std::span<const char* const> names) {
  for (const int column : all_columns(header, names))
    if (std::ranges::find(found, column) == found.end()) found.push_back(column);
}

bool names_content(const Names& header, ListContent content) {
  if (content == ListContent::labels) return column_of(header, kLabelNames) >= 0;
  return column_of(header, kTextNames) >= 0 || column_of(header, kNormalisedNames) >= 0;
}

/// Whether a first row names the audio, and the text or the label.
bool names_columns(const std::vector<std::string>& names, ListContent content) {
  const auto columns = named_columns(names, content, {});
  if (column_of(names, kAudioNames) < 0) return false;
  return content == ListContent::labels ? !columns.label.empty() : columns.text >= 0 || columns.normalised >= 0;
}

}  // namespace

int column_of(const Names& header, std::span<const char* const> names) {
  for (const char* name : names)
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i] == name || plain_field_name(header[i]) == name) return static_cast<int>(i);
  for (const char* name : names)
    for (std::size_t i = 0; i < header.size(); ++i)
      if (squeezed_field_name(header[i]) == squeezed_field_name(name)) return static_cast<int>(i);
  return -1;
}

bool is_header(const Names& fields, ListContent content) {
  constexpr std::array kFirstOfAHeader{"id", "fileid", "wav_id"};
  if (fields.size() > 1 && column_of({fields.front()}, kFirstOfAHeader) == 0) return true;
  if (column_of(fields, kAudioNames) < 0 && column_of(fields, kFileIds) < 0) return false;
  return names_content(fields, content);
}

ListColumns named_columns(const Names& header, ListContent content, const Names& fields) {
  const auto named = [&](const char* name) { return column_of(header, {&name, 1}); };
  ListColumns columns{.speaker = all_columns(header, kSpeakerNames), .id = column_of(header, kIdNames)};
  if (content == ListContent::labels) {
    append_columns(columns.audio, header, kPathNames);
    columns.label = all_columns(header, kLabelNames);
    columns.part = all_columns(header, kPartNames);
    if (const int group = named("group"); group >= 0) columns.group.push_back(group);
    append_columns(columns.group, header, std::array{"speaker", "speaker_id"});
    append_columns(columns.group, header, kGroupNames);
    append_columns(columns.group, header, kSpeakerNames);
  } else {
    columns.text = column_of(header, kTextNames);
    columns.normalised = column_of(header, kNormalisedNames);
    columns.start = column_of(header, kStartNames);
    columns.end = named("end");
    columns.duration = column_of(header, kDurationNames);
    columns.kind = named("sample_type");
    columns.noise_only = named("is_noise_only");
  }
  append_columns(columns.audio, header, kAudioNames);
  if (!columns.audio.empty() && columns.text >= 0) {
    columns.normalised = -1;  // a table that names its text wants that one
  } else if (const int id = column_of(header, kFileIds); columns.audio.empty() && id >= 0) {
    columns.audio = {id};
    columns.id = id;
  }
  for (const auto& name : fields) columns.fields.push_back(named(name.c_str()));
  for (int column = 0; column < std::ssize(header); ++column)
    if (const auto& name = header[static_cast<std::size_t>(column)]; !name.empty() && !columns.reads(column))
      columns.unread.push_back(name);
  return columns;
}

bool ListColumns::reads(int column) const {
  for (const auto* several : {&audio, &speaker, &label, &group, &part, &fields})
    if (std::ranges::find(*several, column) != several->end()) return true;
  const std::array single{id, text, normalised, start, end, duration, kind, noise_only};
  return std::ranges::find(single, column) != single.end();
}

char separator_of(const std::string& first_row, ListContent content) {
  const char usual = csv_separator(first_row);
  if (names_columns(separated_fields(first_row, usual), content)) return usual;
  for (const char rare : {'|', '\t'})  // which no text has within it
    if (first_row.find(rare) != std::string::npos) return rare;
  return usual;
}

bool names_audio_and_content(const std::string& first_row, ListContent content) {
  return names_columns(separated_fields(first_row, separator_of(first_row, content)), content);
}

}  // namespace tutti
