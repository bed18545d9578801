#include "feed/voice/voice_sources.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/dataset.h"
#include "feed/source/layouts.h"
#include "feed/source/line_index.h"
#include "text/byte_order_mark.h"
#include "text/manifest/field_names.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 10> kDigits{"zero", "one", "two",   "three", "four",
                                              "five", "six", "seven", "eight", "nine"};
constexpr const char* kOnlySpeaker = "speaker";  // speaker of data that names none

/// Entries of a folder by name; none where it cannot be read.
std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored))
    entries.push_back(entry->path());
  std::ranges::sort(entries);
  return entries;
}

/// A recording of a single digit by its name; none for another name.
std::optional<VoiceSource> digit_source(const fs::path& file) {
  const std::string stem = file.stem().string();
  const auto parts = split(stem, '_');
  if (parts.size() != 3 || parts[0].size() != 1 || !is_all_digits(parts[0]) || parts[1].empty() ||
      !is_all_digits(parts[2]) || !is_recording(file))
    return std::nullopt;
  return VoiceSource{.id = stem,
                     .audio = file,
                     .text = kDigits[static_cast<std::size_t>(parts[0].front() - '0')],
                     .speaker = std::string(parts[1])};
}

/// "p225" of "p225_001"; empty for ids of another form.
std::string speaker_of_id(std::string_view id) {
  const auto line = id.find('_');
  if (line == id.npos || line < 2 || (id.front() != 'p' && id.front() != 's') || !is_all_digits(id.substr(1, line - 1)))
    return {};
  return std::string(id.substr(0, line));
}

/// The recording of a VCTK text; empty where there is none.
fs::path vctk_recording(const fs::path& data, const fs::path& text) {
  const auto speaker = text.parent_path().filename();
  for (const char* folder : {"wav48_silence_trimmed", "wav48", "wav22", "wav16", "wav"})
    for (const char* ending : {".wav", ".flac", "_mic1.flac", "_mic2.flac"}) {
      fs::path file = data / folder / speaker / text.stem();
      file += ending;
      if (is_there(file)) return file;
    }
  return {};
}

/// A text in a file of its own, in whichever encoding a list may have.
Result<std::string> text_of_file(const fs::path& file) {
  auto text = read_file(file);
  if (!text) return text;
  if (auto converted = utf8_of_utf16(*text)) *text = std::move(*converted);
  *text = trimmed(without_mark(*text));
  return text_of_field(*text, encoding_of(*text).encoding, "its text");
}

Result<VoiceSources> vctk_sources(const fs::path& data) {
  VoiceSources found;
  for (const auto& speaker : sorted_entries(data / "txt"))
    for (const auto& file : sorted_entries(speaker)) {
      if (file.extension() != ".txt") continue;
      const auto text = text_of_file(file);
      if (!text && text.error().fault != Fault::corrupt) return tl::unexpected<Error>(text.error());
      VoiceSource source{.id = file.stem().string(),
                         .audio = vctk_recording(data, file),
                         .text = text.value_or(""),
                         .speaker = speaker.filename().string()};
      source.is_missing = source.audio.empty();
      if (!text) source.problem = text.error().what;
      if (source.is_missing) source.problem = "no recording of this name is in wav48 or a folder like it";
      found.clips.push_back(std::move(source));
    }
  return found;
}

Result<void> add_dataset(const fs::path& data, const std::string& split, std::optional<VoicePart> part,
                         VoiceSources& found) {
  const auto set = TRY(open_dataset(data, split, {}));
  if (const auto conclusion = set->conclusion(); !conclusion.empty()) log(Level::warning, conclusion);
  bool has_speakers = false;
  for (std::int64_t i = 0; i < set->size(); ++i) {
    auto line = set->at(i);
    VoiceSource source{.id = set->id(i), .part = part};
    if (line) {
      source.audio = line->audio;
      source.member = line->member;
      source.text = line->text;
      source.start = line->start;
      source.end = line->end;
      source.speaker = line->speaker;
      source.is_missing = !is_there(source.audio);
    } else {
      source.problem = line.error().what;
      source.is_missing = line.error().fault == Fault::missing;
    }
    for (const auto& id : {source.id, fs::path(source.id).stem().string(), source.audio.stem().string()})
      if (source.speaker.empty()) source.speaker = speaker_of_id(id);
    has_speakers |= !source.speaker.empty();
    if (source.speaker.empty()) source.speaker = kOnlySpeaker;
    found.clips.push_back(std::move(source));
  }
  if (const auto unread = set->unread(); !has_speakers && !unread.empty())
    log(Level::warning, data.string() + ": no column names who speaks, so all recordings are one voice's. Not read: " +
                            quoted_names(unread) + "; a column 'speaker' names the speakers");
  return {};
}

Result<VoiceSources> listed_sources(const fs::path& data) {
  VoiceSources found;
  if (!is_there(data / "metadata.csv") && is_there(data / "metadata_train.csv")) {
    auto added = add_dataset(data, "train", VoicePart::training, found);
    if (added && is_there(data / "metadata_eval.csv"))
      added = add_dataset(data, "validation", VoicePart::validation, found);
    TRY(added);
    return found;
  }
  TRY(add_dataset(data, "", std::nullopt, found));
  return found;
}

VoiceSources digit_sources(const fs::path& data) {
  VoiceSources found{.are_digits = true};
  for (const auto& file : sorted_entries(data))
    if (auto source = digit_source(file)) found.clips.push_back(std::move(*source));
  return found;
}

Result<void> keep_speaker(VoiceSources& found, const std::string& speaker) {
  if (speaker.empty()) return {};
  std::set<std::string> names;
  for (const auto& clip : found.clips) names.insert(clip.speaker);
  if (!names.contains(speaker))
    return fail(Fault::usage,
                field("speaker") + ": no recording is by '" + speaker + "', found " + joined(names, ", "));
  std::erase_if(found.clips, [&](const VoiceSource& clip) { return clip.speaker != speaker; });
  return {};
}

}  // namespace

Result<VoiceSources> find_voice_sources(const fs::path& data, const std::string& speaker) {
  if (!names_shards(data.string()) && !is_there(data))
    return fail(Fault::missing, data.string() + ": no such file or folder");
  auto digits = digit_sources(data);
  Result<VoiceSources> found = !digits.clips.empty()    ? std::move(digits)
                               : is_there(data / "txt") ? vctk_sources(data)
                                                        : listed_sources(data);
  if (!found) return found;
  if (found->clips.empty()) return fail(Fault::usage, data.string() + ": lists no recording");
  TRY(keep_speaker(*found, speaker));
  return found;
}

}  // namespace tutti
