#include "cli/diarize/diarize_flags.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/numbers.h"
#include "base/strings.h"
#include "base/try.h"
#include "diarize/speaker_names.h"
#include "diarize/speakers.h"
#include "hub/speaker_weights.h"
#include "settings/values.h"
#include "text/utf8.h"
#include "transcribe/speakers/recording_speakers.h"
#include "view/text.h"

namespace tutti {
namespace {

Result<void> check_count(const char* flag, const std::optional<std::int32_t>& count) {
  constexpr std::int32_t kMost = 100;
  if (!count || (*count >= 1 && *count <= kMost)) return {};
  return fail(Fault::usage,
              std::string(flag) + ": expected 1 to " + show_value(kMost) + ", found " + show_value(*count));
}

Result<SpeakerCount> count_of(const DiarizeFlags& f) {
  for (const auto& [flag, count] : {std::pair("--num-speakers", f.num_speakers),
                                    {"--min-speakers", f.min_speakers},
                                    {"--max-speakers", f.max_speakers}})
    TRY(check_count(flag, count));
  if (f.num_speakers && (f.min_speakers || f.max_speakers))
    return fail(Fault::usage, "--num-speakers is exact: --min-speakers and --max-speakers have no place beside it",
                "Leave one of the two out");
  if (f.min_speakers && f.max_speakers && *f.min_speakers > *f.max_speakers)
    return fail(Fault::usage, "--min-speakers " + show_value(*f.min_speakers) + " is above --max-speakers " +
                                  show_value(*f.max_speakers));
  return SpeakerCount{.exact = f.num_speakers, .least = f.min_speakers, .most = f.max_speakers};
}

Result<std::vector<KnownSpeaker>> known_of(const std::string& list) {
  std::vector<KnownSpeaker> known;
  if (list.empty()) return known;
  for (const auto one : split(list, ',')) {
    const auto equals = one.find('=');
    if (equals == one.npos || equals == 0 || equals + 1 == one.size())
      return fail(Fault::usage, "--speaker: expected NAME=CLIP, found '" + std::string(one) + "'",
                  "As in --speaker ANNA=anna.wav, with 4 to 8 s of this speaker alone");
    if (!is_speaker_name(one.substr(0, equals)))
      return fail(Fault::usage, "--speaker: expected a name in one line, without blanks around it, found '" +
                                    without_controls(std::string(one.substr(0, equals))) + "'");
    if (is_speaker_label(one.substr(0, equals)))
      return fail(Fault::usage,
                  "--speaker " + std::string(one.substr(0, equals)) + ": that is a name of speakers without a clip",
                  "Choose another name");
    known.push_back({.name = std::string(one.substr(0, equals)), .clip = std::string(one.substr(equals + 1))});
    if (::access(known.back().clip.c_str(), R_OK) != 0)
      return fail(Fault::missing,
                  "--speaker " + known.back().name + ": " + known.back().clip.string() + ": " + std::strerror(errno));
  }
  return known;
}

/// The first flag that is set beside --diarize, which it needs.
std::string first_of(const DiarizeFlags& f) {
  if (f.num_speakers) return "--num-speakers";
  if (f.min_speakers) return "--min-speakers";
  if (f.max_speakers) return "--max-speakers";
  if (!f.speakers.empty()) return "--speaker";
  if (f.from != DiarizeFlags{}.from) return "--speakers-from";
  if (!f.save_embeddings.empty()) return "--save-embeddings";
  return "";
}

}  // namespace

void add_diarize(OptionTable& table, DiarizeFlags& f, bool is_optional) {
  table.group("Who speaks");
  if (is_optional)
    table.add_switch("diarize", f.diarize,
                     "finds who speaks: segments are split where the speaker changes, and every word has a speaker "
                     "(with --word-timestamps)");
  table.add("num-speakers", f.num_speakers, "N", "how many speakers there are; found out where it is not given");
  table.add("min-speakers", f.min_speakers, "N", "at least so many speakers");
  table.add("max-speakers", f.max_speakers, "N", "at most so many speakers");
  table.add_list("speaker", f.speakers, "NAME=CLIP",
                 "the name of the speaker of a clip of 4 to 8 s; may be given again for another one");
  table.add("speakers-from", f.from, "voices|stereo", "stereo: one speaker a channel, without a network for voices")
      .choices = {"voices", "stereo"};
  table
      .add("diarize-quality", f.quality, "auto|standard|high",
           "high: windows every 1 s instead of 5 s, and twice as many pieces; takes three times as long. auto: high "
           "where one of the devices is a GPU")
      .choices = {"auto", "standard", "high"};
  table.add("save-embeddings", f.save_embeddings, "FILE",
            "writes each speaker's voice as numbers into a JSON file; they are biometric data, and kept nowhere else");
}

Result<std::optional<DiarizeOptions>> diarize_options(const DiarizeFlags& f) {
  if (const std::string flag = first_of(f); !f.diarize && !flag.empty())
    return fail(Fault::usage, flag + " needs --diarize");
  if (!f.diarize) return std::nullopt;
  auto count = TRY(count_of(f));
  auto known = TRY(known_of(f.speakers));
  DiarizeOptions options{.count = count,
                         .known = std::move(known),
                         .by_channel = f.from == "stereo",
                         .high_quality = f.quality == "auto" ? std::nullopt : std::optional(f.quality == "high"),
                         .save_embeddings = f.save_embeddings};
  if (options.by_channel && (!options.known.empty() || !options.save_embeddings.empty()))
    return fail(Fault::usage, "--speakers-from stereo compares no voices: --speaker and --save-embeddings need voices");
  if (options.by_channel) return options;
  if (!f.save_embeddings.empty())
    if (auto file = expect_voices_file(f.save_embeddings); !file) return fail_in("--save-embeddings", file.error());
  options.weights = TRY(find_speaker_weights());
  return options;
}

Result<void> expect_speakers_for(const std::string& output_format, const DiarizeFlags& flags) {
  if (output_format != "rttm" || flags.diarize) return {};
  return fail(Fault::usage, "--output-format rttm: there are no speakers to write without --diarize");
}

}  // namespace tutti
