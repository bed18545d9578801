#include "transcribe/reports/converted_transcript.h"

#include <unistd.h>

#include <algorithm>

#include "audio/recording.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/try.h"
#include "diarize/rttm.h"
#include "diarize/word_speakers.h"
#include "transcript/tidy.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

Result<std::string> turns_text(const std::string& recording, const Transcript& transcript) {
  const auto turns = turns_of(transcript);
  const bool names_none = std::ranges::all_of(transcript.segments, &std::string::empty, &Segment::speaker);
  // Without text no one speaks, whether speakers were looked for or not.
  if (names_none && has_text(transcript))
    return fail(Fault::usage, "no segment names its speaker, so there are no turns for RTTM",
                "Transcribe it with " + field("diarize") + ", or find the speakers of the recording by tutti diarize");
  return rttm_text(recording, turns);
}

/// The same with a line for each segment, which is a row of a table.
Transcript in_one_line(Transcript transcript) {
  for (Segment& segment : transcript.segments) std::ranges::replace(segment.text, '\n', ' ');
  return transcript;
}

}  // namespace

Result<void> convert_transcript(const PlannedFile& file, const ConvertTarget& target, const OutputOwnership& files,
                                ConvertedTranscript& done) {
  const std::string name = name_of_input(file.input);
  const auto text = TRY(file.input == "-" ? read_rest(STDIN_FILENO, name) : read_file(file.input));
  auto transcript = TRY(read_untidy_transcript_json(text));
  if (const std::string repaired = tidy_transcript(transcript); !repaired.empty())
    log(Level::warning, name + ": " + repaired);
  if (target.replacements) done.replacements = replace_text(transcript, *target.replacements);
  if (!target.layout_flag.empty() && !has_word_times(transcript))
    log(Level::warning, name + ": there are no word times in it; " + target.layout_flag + " has no effect");
  const auto content_of = [&](Format format) -> Result<std::string> {
    if (format == Format::rttm) return turns_text(file.input.stem().string(), transcript);
    return format_transcript(format == Format::tsv ? in_one_line(transcript) : transcript, format, target.options);
  };
  for (std::size_t i = 0; i < target.formats.size(); ++i) {
    const auto content = TRY(content_of(target.formats[i]));
    const auto written = TRY(files.write(file.outputs[i], content));
    if (written) done.replaced.push_back(file.outputs[i]);
    done.outputs.push_back(file.outputs[i]);
  }
  return {};
}

}  // namespace tutti
