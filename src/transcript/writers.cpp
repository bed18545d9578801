#include "transcript/writers.h"

#include <array>
#include <cmath>
#include <utility>

#include "text/word_split.h"
#include "transcript/like_python.h"
#include "transcript/subtitles.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 6> kFormats{{{Format::txt, "txt"},
                                                                       {Format::vtt, "vtt"},
                                                                       {Format::srt, "srt"},
                                                                       {Format::tsv, "tsv"},
                                                                       {Format::json, "json"},
                                                                       {Format::rttm, "rttm"}}};

std::string txt(const Transcript& transcript) {
  std::string out;
  for (const Segment& segment : transcript.segments)
    out.append(speaker_prefix(segment.speaker)).append(strip(segment.text)).append("\n");
  return out;
}

/// Running text with an empty line after each pause of at least so many seconds, and where the speaker changes.
std::string paragraphs(const Transcript& transcript, double pause) {
  const bool has_spaces = !is_written_without_spaces(transcript.language);
  std::string out, paragraph;
  const Segment* before = nullptr;
  const auto end_paragraph = [&] {
    if (strip(paragraph).empty()) return;
    out.append(out.empty() ? "" : "\n").append(speaker_prefix(before->speaker)).append(strip(paragraph)).append("\n");
    paragraph.clear();
  };
  for (const Segment& segment : transcript.segments) {
    if (strip(segment.text).empty()) continue;
    if (before && (segment.start - before->end >= pause || segment.speaker != before->speaker)) end_paragraph();
    if (has_spaces && !paragraph.empty() && leading_space(segment.text).empty()) paragraph += " ";
    paragraph += replaced(segment.text, "\n", " ");
    before = &segment;
  }
  end_paragraph();
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
    if (name == known || (name == "all" && format != Format::rttm)) found.push_back(format);
  if (found.empty())
    return fail(Fault::usage,
                "output format: expected txt, vtt, srt, tsv, json, rttm or all, found '" + std::string(name) + "'");
  return found;
}

std::string_view extension(Format format) {
  for (const auto& [known, name] : kFormats)
    if (known == format) return name;
  return {};
}

Result<std::string> format_transcript(const Transcript& transcript, Format format, const WriterOptions& options) {
  switch (format) {
    case Format::txt: return options.paragraphs ? paragraphs(transcript, *options.paragraphs) : txt(transcript);
    case Format::tsv: return tsv(transcript);
    case Format::json: return transcript_json(transcript, options.language);
    case Format::vtt: return subtitles(transcript, kVttClock, options).map(vtt);
    case Format::srt: return subtitles(transcript, kSrtClock, options).map(srt);
    case Format::rttm: return fail(Fault::unsupported, "rttm: a transcript has no turns of speakers");
  }
  return fail(Fault::internal, "output format: not one of the known");
}

}  // namespace tutti
