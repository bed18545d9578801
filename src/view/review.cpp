#include "view/review.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/numbers.h"
#include "view/markup.h"
#include "view/text.h"

namespace tutti {
namespace {

std::string clock_of(Seconds at) {
  const auto tenths = std::llround(std::max(0.0, at.count()) * 10);
  char text[48];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld.%lld", tenths / 36000, tenths / 600 % 60, tenths / 10 % 60,
                tenths % 10);
  return text;
}

}  // namespace

std::string position_text(Seconds start, Seconds end) {
  return clock_of(start) + "-" + clock_of(end);
}

namespace {

constexpr const char* kReviewCsvHeader = "recording,position,reason,severity,excerpt,transcript\r\n";

std::string cell(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) text.insert(0, 1, '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

std::string review_csv(const ReviewList& list) {
  std::string out = kReviewCsvHeader;
  for (const ReviewRecording& recording : list.recordings)
    for (const ReviewFinding& finding : recording.findings)
      out += cell(recording.name) + "," + position_text(finding.start, finding.end) + "," +
             cell(finding.kind + ": " + finding.reason) + "," + fixed_text(finding.severity, 2) + "," +
             cell(finding.excerpt) + "," + cell(recording.transcript) + "\r\n";
  return out;
}

namespace {

constexpr std::size_t kMostFindings = 12;  // findings of one recording; the table has all
constexpr double kWaveHeight = 56;

constexpr const char* kHead =
    R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root{--bg:#fbfbfa;--card:#fff;--ink:#1d2126;--soft:#5c6670;--line:#d9dde1;--wave:#7a8ea3;--mark:#f3c969;--bad:#a8321f}
@media (prefers-color-scheme:dark){:root{--bg:#14171a;--card:#1c2024;--ink:#e6e8ea;--soft:#9aa4ae;--line:#33393f;--wave:#7f97ae;--mark:#6b5518;--bad:#f0917e}}
*{box-sizing:border-box}body{margin:0;background:var(--bg);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1rem}h1{font-size:1.5rem;margin:.6rem 0 .2rem}h2{font-size:1.05rem;margin:0;overflow-wrap:anywhere}
.soft{color:var(--soft);font-size:.9rem;overflow-wrap:anywhere}section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:1rem 0}
article{border-top:1px solid var(--line);margin-top:.8rem;padding-top:.8rem}.kind{font-weight:600;color:var(--bad)}
.at{font-variant-numeric:tabular-nums}svg{display:block;width:100%;height:3.5rem;margin:.4rem 0}svg .w{fill:var(--wave)}svg .m{fill:var(--mark)}
svg a:focus rect,svg a:hover rect{stroke:var(--ink);stroke-width:2;vector-effect:non-scaling-stroke}
.s0{--s:#0072b2}.s1{--s:#d55e00}.s2{--s:#009e73}.s3{--s:#cc79a7}.s4{--s:#b58900}.s5{--s:#56a5d8}.s6{--s:#7d5fc7}.s7{--s:#8a6d3b}
svg .t{fill:var(--s)}.who{font-weight:600;white-space:nowrap;margin-right:1rem}.who::before{content:"";display:inline-block;width:.8em;height:.8em;margin-right:.35em;border-radius:50%;background:var(--s)}
.turn{border-left:.35rem solid var(--s);padding-left:.6rem}.turn:target{background:var(--mark)}summary{cursor:pointer}
audio{width:100%;height:2.2rem}blockquote{margin:.3rem 0;padding-left:.7rem;border-left:3px solid var(--line);overflow-wrap:anywhere}
</style>
)";

/// Bars around the middle line, the doubtful stretch behind them; one unit wide per peak.
std::string waveform(const ReviewFinding& finding) {
  const auto columns = static_cast<double>(finding.peaks.size());
  const double length = (finding.wave_end - finding.wave_start).count();
  if (finding.peaks.empty() || length <= 0) return {};
  const auto x_of = [&](Seconds at) {
    return std::clamp((at - finding.wave_start).count() / length, 0.0, 1.0) * columns;
  };
  const double left = x_of(finding.start), right = std::max(left + 1, x_of(finding.end));
  std::string svg =
      "<svg viewBox=\"0 0 " + fixed_text(columns, 0) + " " + fixed_text(kWaveHeight, 0) +
      "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"waveform, the doubtful stretch marked\">";
  svg += "<rect class=\"m\" x=\"" + fixed_text(left, 1) + "\" y=\"0\" width=\"" + fixed_text(right - left, 1) +
         "\" height=\"" + fixed_text(kWaveHeight, 0) + "\"/><path class=\"w\" d=\"";
  // Quiet recordings are shown larger, but noise alone is not blown up to speech.
  const double loudest = std::max(0.1F, *std::max_element(finding.peaks.begin(), finding.peaks.end()));
  for (std::size_t i = 0; i < finding.peaks.size(); ++i) {
    const double height = std::max(1.0, finding.peaks[i] / loudest * kWaveHeight);
    svg += "M" + std::to_string(i) + " " + fixed_text((kWaveHeight - height) / 2, 1) + "h.8v" + fixed_text(height, 1) +
           "h-.8z";
  }
  return svg + "\"/></svg>\n";
}

/// Begins a moment before the finding, so that the ear can settle.
std::string player(const std::string& url, const ReviewFinding& finding) {
  if (url.empty()) return {};
  return audio_player(url, finding.start.count() - 1, finding.end.count() + 1) + "\n";
}

bool same_finding(const ReviewFinding& a, const ReviewFinding& b) {
  return a.start == b.start && a.end == b.end;
}

/// One stretch to listen to, with all its findings.
std::string finding_html(const ReviewRecording& recording, const ReviewFinding& lead) {
  std::string out = "<article><p class=\"at\">" + position_text(lead.start, lead.end) + "</p>\n";
  for (const ReviewFinding& finding : recording.findings)
    if (same_finding(finding, lead))
      out += "<p><span class=\"kind\">" + escaped_markup(finding.kind) + "</span> <span class=\"soft\">severity " +
             fixed_text(finding.severity, 2) + "</span><br>" + escaped_markup(finding.reason) + "</p>\n";
  if (!lead.excerpt.empty()) out += "<blockquote>" + escaped_markup(lead.excerpt) + "</blockquote>\n";
  return out + waveform(lead) + player(recording.audio, lead) + "</article>\n";
}

/// Where to listen, the worst first: the first finding of each stretch.
std::vector<const ReviewFinding*> findings_of(const ReviewRecording& recording) {
  std::vector<const ReviewFinding*> leads;
  for (const ReviewFinding& finding : recording.findings)
    if (std::none_of(leads.begin(), leads.end(), [&](const auto* known) { return same_finding(*known, finding); }))
      leads.push_back(&finding);
  return leads;
}

std::string recording_html(const ReviewRecording& recording) {
  std::string out = "<section><h2>" + escaped_markup(recording.name) + "</h2>\n<p class=\"soft\">";
  if (recording.length > Seconds(0)) out += length_text(recording.length) + " · ";
  out += std::to_string(recording.findings.size()) + (recording.findings.size() == 1 ? " finding" : " findings") +
         " · transcript: " + escaped_markup(recording.transcript);
  if (recording.audio.empty()) out += " · the recording was not found";
  out += "</p>\n";
  const auto leads = findings_of(recording);
  const std::size_t shown = std::min(leads.size(), kMostFindings);
  for (std::size_t i = 0; i < shown; ++i) out += finding_html(recording, *leads[i]);
  if (shown < leads.size())
    out += "<p class=\"soft\">and " + std::to_string(leads.size() - shown) + " more findings in review.csv</p>\n";
  return out + "</section>\n";
}

constexpr std::size_t kColours = 8;
constexpr std::size_t kMostTurns = 500;  // of one recording that have a player; the line shows all
constexpr double kLineWidth = 1000, kLineHeight = 24;

std::string colour_class(std::size_t speaker) {
  return "s" + std::to_string(speaker % kColours);
}

std::string turn_name(std::size_t conversation, std::size_t turn) {
  return "c" + std::to_string(conversation) + "t" + std::to_string(turn);
}

std::string speakers_html(const ReviewConversation& conversation) {
  std::string out = "<p>";
  for (std::size_t i = 0; i < conversation.speakers.size(); ++i)
    out += "<span class=\"who " + colour_class(i) + "\">" + escaped_markup(conversation.speakers[i]) +
           " <span class=\"soft\">" + length_text(conversation.length_of(i)) + "</span></span>";
  return out + "</p>\n";
}

/// All turns along the recording, in the colours of their speakers; each leads to its player.
std::string line_of_turns(const ReviewConversation& conversation, std::size_t number) {
  double end = 0;
  for (const ReviewTurn& turn : conversation.turns) end = std::max(end, turn.end.count());
  if (end <= 0) return {};
  std::string svg = "<svg viewBox=\"0 0 " + fixed_text(kLineWidth, 0) + " " + fixed_text(kLineHeight, 0) +
                    "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"turns of the speakers\">";
  for (std::size_t i = 0; i < conversation.turns.size(); ++i) {
    const ReviewTurn& turn = conversation.turns[i];
    const double left = turn.start.count() / end * kLineWidth, right = turn.end.count() / end * kLineWidth;
    const std::string bar = "<rect class=\"t " + colour_class(turn.speaker) + "\" x=\"" + fixed_text(left, 1) +
                            "\" y=\"0\" width=\"" + fixed_text(std::max(0.5, right - left), 1) + "\" height=\"" +
                            fixed_text(kLineHeight, 0) + "\"><title>" +
                            escaped_markup(conversation.speakers[turn.speaker]) + " " +
                            position_text(turn.start, turn.end) + "</title></rect>";
    svg += i < kMostTurns ? "<a href=\"#" + turn_name(number, i) + "\">" + bar + "</a>" : bar;
  }
  return svg + "</svg>\n";
}

std::string turns_html(const ReviewConversation& conversation, std::size_t number) {
  const auto& turns = conversation.turns;
  std::string out =
      "<details><summary>" + std::to_string(turns.size()) + (turns.size() == 1 ? " turn" : " turns") + "</summary>\n";
  for (std::size_t i = 0; i < std::min(turns.size(), kMostTurns); ++i) {
    const ReviewTurn& turn = turns[i];
    out += "<article class=\"turn " + colour_class(turn.speaker) + "\" id=\"" + turn_name(number, i) +
           "\"><p><span class=\"who " + colour_class(turn.speaker) + "\">" +
           escaped_markup(conversation.speakers[turn.speaker]) + "</span> <span class=\"at\">" +
           position_text(turn.start, turn.end) + "</span></p>\n";
    if (!turn.excerpt.empty()) out += "<blockquote>" + escaped_markup(turn.excerpt) + "</blockquote>\n";
    if (!conversation.audio.empty())
      out += audio_player(conversation.audio, turn.start.count(), turn.end.count()) + "\n";
    out += "</article>\n";
  }
  if (turns.size() > kMostTurns)
    out += "<p class=\"soft\">and " + std::to_string(turns.size() - kMostTurns) + " more turns</p>\n";
  return out + "</details>\n";
}

std::string conversation_html(const ReviewConversation& conversation, std::size_t number) {
  std::string out = "<section><h2>" + escaped_markup(conversation.name) +
                    "</h2>\n<p class=\"soft\">transcript: " + escaped_markup(conversation.transcript);
  if (conversation.audio.empty()) out += " · the recording was not found";
  return out + "</p>\n" + speakers_html(conversation) + line_of_turns(conversation, number) +
         turns_html(conversation, number) + "</section>\n";
}

std::string thousands(std::size_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

}  // namespace

Seconds ReviewConversation::length_of(std::size_t speaker) const {
  Seconds length{};
  for (const ReviewTurn& turn : turns)
    if (turn.speaker == speaker) length += turn.end - turn.start;
  return length;
}

std::string review_headline(const ReviewList& list) {
  const std::string done = thousands(list.looked_at) + " done, ";
  if (list.recordings.empty()) return done + "none doubtful";
  if (list.recordings.size() == 1) return done + "listen to this one";
  return done + "listen to these " + thousands(list.recordings.size());
}

std::string review_html(const ReviewList& list) {
  const std::string headline = escaped_markup(review_headline(list));
  std::string out = kHead + ("<title>" + headline) + "</title></head><body><main>\n<h1>" + headline + "</h1>\n";
  out +=
      "<p class=\"soft\">Worst first. Each player starts a second before the doubtful stretch, which is marked in the "
      "waveform.</p>\n";
  if (list.without_audio > 0)
    out += "<p class=\"soft\">" + thousands(list.without_audio) +
           " were reviewed by their text alone: the recording was not found or not decoded.</p>\n";
  if (list.without_speech > 0)
    out += "<p class=\"soft\">" + thousands(list.without_speech) +
           " without speech: their transcripts have no text.</p>\n";
  for (const std::string& line : list.not_read)
    out += "<p class=\"soft\">not reviewed: " + escaped_markup(line) + "</p>\n";
  for (const ReviewRecording& recording : list.recordings) out += recording_html(recording);
  if (!list.conversations.empty()) out += "<h1>Who speaks</h1>\n";
  for (std::size_t i = 0; i < list.conversations.size(); ++i) out += conversation_html(list.conversations[i], i);
  if (list.with_speakers > list.conversations.size())
    out += "<p class=\"soft\">" + thousands(list.with_speakers - list.conversations.size()) +
           " more have speakers; 'tutti review' of one transcript shows them.</p>\n";
  return out + "</main></body></html>\n";
}

}  // namespace tutti
