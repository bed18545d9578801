#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tutti {

// The names under which lists, tables and manifests of other programs give the same thing, the best first. Either case
// and spaces around them are understood ("Audio", " Filename").

inline constexpr std::array<const char*, 8> kPathNames{"path",       "audio", "audio_path", "audio_filepath",
                                                       "audio_file", "file",  "filename",   "wav"};
/// A file's name alone: beside folder_path in the manifest of an archive; in Hugging Face's audiofolder a path.
inline constexpr const char* kFileName = "file_name";
inline constexpr std::array<const char*, 4> kTextNames{"text", "transcript", "transcription", "sentence"};
/// A text with its numbers and abbreviations written out.
inline constexpr std::array<const char*, 8> kNormalisedNames{
    "normalised",      "normalized",      "normalised_text",          "normalized_text",
    "text_normalised", "text_normalized", "normalised_transcription", "normalized_transcription"};
/// Who speaks. Common Voice's is client_id.
inline constexpr std::array<const char*, 15> kSpeakerNames{
    "speaker",       "speaker_name",  "speaker_id", "spk",    "spk_id",   "spk_name", "spkr",  "client_id",
    "speaker_index", "speaker_label", "talker",     "reader", "narrator", "actor",    "singer"};
inline constexpr std::array<const char*, 5> kLabelNames{"label", "class", "category", "class_name", "target"};
/// What belongs together, beside the speaker.
inline constexpr std::array<const char*, 4> kGroupNames{"sensor", "recording", "src_file", "fold"};
inline constexpr std::array<const char*, 3> kPartNames{"split", "part", "subset"};
inline constexpr std::array<const char*, 2> kStartNames{"start", "offset"};
inline constexpr std::array<const char*, 4> kDurationNames{"media_duration_seconds", "duration", "duration_seconds",
                                                           "audio_seconds"};
inline constexpr std::array<const char*, 2> kIdNames{"id", "uuid"};
inline constexpr std::array<const char*, 2> kNameNames{"name", "title"};

/// `name` in lower case, without spaces around it.
std::string plain_field_name(std::string_view name);

/// `name` as its words alone: in lower case, without spaces, hyphens and underscores. "Speaker ID" is "speakerid".
std::string squeezed_field_name(std::string_view name);

/// The plain name of a field about a recording: where it is, what it is called, how urgent it is. Any other name is
/// returned as it is, so that reports repeat it.
std::string known_field_name(std::string_view name);

/// The names that a record or a table's header has, for people: in quotes, the first 20 of them, long ones cut.
std::string quoted_names(std::span<const std::string> names);

/// Seconds, "90.5", or as clocks show them, "1:30" and "0:01:30.5"; spaces around do not matter. Not below 0.
std::optional<double> seconds_in_field(std::string_view text);

/// Whether values of this field are seconds.
bool is_seconds_field(std::string_view name);

}  // namespace tutti
