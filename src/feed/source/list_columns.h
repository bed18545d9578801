#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "text/manifest/field_names.h"

namespace tutti {

/// What a list gives of every recording: the text that is spoken in it, or the label of what is to be recognised.
enum class ListContent { texts, labels };

/// Where a sample's audio is named, of the names in text/manifest/field_names.h the first that a set has.
inline constexpr std::array<const char*, 10> kAudioNames{
    "audio", "audio_file", "audio_filepath", "audio_path", "file",
    "path",  "wav",        "filename",       kFileName,    "slice_file_name"};

/// What the columns of a list hold, by their indices; -1, or none: no column does. Of several the first that is filled
/// counts.
struct ListColumns {
  std::vector<int> audio{}, speaker{}, label{}, group{}, part{};
  int id = -1, text = -1, start = -1, end = -1, duration = -1, kind = -1, noise_only = -1;
  int normalised = -1;        ///< the text with its numbers written out, which is taken before `text`
  std::vector<int> fields{};  ///< the requested columns
  /// Fields of a row of a list whose columns have no names; a row with more has separators in its text. 0: they have.
  int width = 0;
  std::vector<std::string> unread{};  ///< names of the columns that nothing is read of
  /// What was concluded from the content of the columns, for people; empty: their names state all.
  std::string conclusion{};

  /// Whether something is read of that column.
  bool reads(int column) const;
};

/// The first column whose header is one of `names`, in upper or lower case, with spaces, hyphens or underscores between
/// its words; -1: none is.
int column_of(const std::vector<std::string>& header, std::span<const char* const> names);

/// Whether the fields of a list's first line are names of columns: one of the recording and one of its content.
bool is_header(const std::vector<std::string>& fields, ListContent content);

/// The separator of a list's columns: that by which its first row names audio and content; else bars or tabs, where it
/// has any; else the one of , and ; that it has most of.
char separator_of(const std::string& first_row, ListContent content);

/// Whether the first row, parted by its separator, names a column of the audio and one of the content. Where bars part
/// them, it is then a table with quotes as others, not LJSpeech's layout.
bool names_audio_and_content(const std::string& first_row, ListContent content);

/// The columns by their names. Where none names the audio, that of the ids does. `fields`: further columns to keep.
ListColumns named_columns(const std::vector<std::string>& header, ListContent content,
                          const std::vector<std::string>& fields);

}  // namespace tutti
