#include "transcript/writers.h"

#include <array>
#include <cmath>
#include <utility>

#include "transcript/like_python.h"
#include "transcript/subtitles.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 5> kFormats{
    {{Format::txt, "txt"}, {Format::vtt, "vtt"}, {Format::srt, "srt"}, {Format::tsv, "tsv"}, {Format::json, "json"}}};

std::string txt(const Transcript& transcript) {
  std::string out;
  for (const Segment& segment : transcript.segments)
    out.append(speaker_prefix(segment.speaker)).append(strip(segment.text)).append("\n");
  return out;
}

std::string tsv(const Transcript& transcript) {
  std::string out = "start\tend\ttext\n";
  const auto milliseconds = [](double seconds) { return std::to_string(std::llround(round_even(1000 * seconds))); };
  for (const Segment& segment : transcript.segments) {
    out += milliseconds(segment.start) + "\t" + milliseconds(segment.end) + "\t";
    out += replaced(strip(segment.text), "\t", " ") + "\n";
  }
  return out;
}

std::string vtt(const std::vector<Subtitle>& subtitles) {
  std::string out = "WEBVTT\n\n";
  for (const Subtitle& cue : subtitles) out += cue.start + " --> " + cue.end + "\n" + cue.text + "\n\n";
  return out;
}

std::string srt(const std::vector<Subtitle>& subtitles) {
  std::string out;
  std::size_t number = 0;
  for (const Subtitle& cue : subtitles)
    out += std::to_string(++number) + "\n" + cue.start + " --> " + cue.end + "\n" + cue.text + "\n\n";
  return out;
}

}  // namespace

Result<std::vector<Format>> parse_formats(std::string_view name) {
  std::vector<Format> found;
  for (const auto& [format, known] : kFormats)
    if (name == known || name == "all") found.push_back(format);
  if (found.empty())
    return fail(Fault::usage,
                "output format: expected txt, vtt, srt, tsv, json or all, found '" + std::string(name) + "'");
  return found;
}

std::string_view extension(Format format) {
  for (const auto& [known, name] : kFormats)
    if (known == format) return name;
  return {};
}

Result<std::string> format_transcript(const Transcript& transcript, Format format, const WriterOptions& options) {
  switch (format) {
    case Format::txt: return txt(transcript);
    case Format::tsv: return tsv(transcript);
    case Format::json: return transcript_json(transcript, options.language);
    case Format::vtt: return subtitles(transcript, kVttClock, options).map(vtt);
    case Format::srt: return subtitles(transcript, kSrtClock, options).map(srt);
  }
  return fail(Fault::internal, "output format: not one of the known");
}

}  // namespace tutti
