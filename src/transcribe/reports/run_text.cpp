#include <algorithm>
#include <cstdio>

#include "base/field_names.h"
#include "base/numbers.h"
#include "base/strings.h"
#include "profile/pipeline_tuner.h"
#include "transcribe/reports/run_report.h"
#include "view/text.h"

namespace tutti {
namespace {

std::string percent_line(const char* what, Seconds part, Seconds whole) {
  char line[96];
  std::snprintf(line, sizeof line, "  %-9s %8.2f s  %5.1f %%\n", what, part.count(),
                whole > Seconds(0) ? 100 * (part / whole) : 0.0);
  return line;
}

/// "1 window", "5 windows".
std::string counted(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// The worker's time adds up to the run's; what other threads do goes on beside it. Its time for files without a
/// transcript, or for work done again, is not counted: then the rest is not called idle.
std::string time_lines(const RunSummary& summary) {
  const TimeSpent& spent = summary.spent;
  const Seconds all = summary.elapsed;
  std::string out = "Where the worker's time went:\n";
  out += percent_line("loading", summary.model_load, all);
  out += percent_line("encoder", spent.encoder, all);
  out += percent_line("decoder", spent.decoder, all);
  if (spent.speakers > Seconds(0)) out += percent_line("speakers", spent.speakers, all);
  const bool all_counted = !summary.interrupted && !summary.unfinished_work && summary.worker_restarts == 0;
  out += percent_line(all_counted ? "idle" : "other",
                      std::max(Seconds(0), all - summary.model_load - spent.worker() - spent.speakers), all);
  if (!all_counted) out += "Other: idle, or at work on what came to no transcript or had to be done again\n";
  out += "Beside it, on other threads: decoding " + short_number(spent.audio.count()) + " s, ";
  if (spent.listening > Seconds(0)) out += "listening for speech " + short_number(spent.listening.count()) + " s, ";
  return out + "features " + short_number(spent.features.count()) + " s, writing " +
         short_number(spent.writing.count()) + " s\n";
}

std::string count_lines(const WindowCounts& counts) {
  return counted(counts.windows, "window") + ", " + counted(counts.decodings, "decoding") + ", " +
         short_number(counts.batch_fill()) +
         " sequences a step. Decoder steps: " + std::to_string(counts.decoder_steps) +
         ", of them decided by less than 1e-4: " + std::to_string(counts.narrow_margins) + "\n";
}

}  // namespace

std::string replaced_text(std::span<const std::filesystem::path> files) {
  constexpr std::size_t kMostNamed = 10;
  const auto named = files.first(std::min(files.size(), kMostNamed));
  std::string text =
      "Replaced: " + counted(files.size(), "output file") +
      (files.size() == 1 ? " that was there before: " : " that were there before: ") +
      joined(named, ", ", [](const std::filesystem::path& file) { return without_controls(file.string()); });
  if (named.size() < files.size()) text += " and " + counted(files.size() - named.size(), "other");
  return text;
}

std::string summary_text(const RunSummary& summary) {
  std::string out = std::to_string(summary.done) + " of " + std::to_string(summary.files) + " files done";
  if (summary.skipped > 0) out += ", " + std::to_string(summary.skipped) + " done before";
  if (summary.failed > 0) out += ", " + std::to_string(summary.failed) + " failed";
  if (summary.without_speech > 0) out += ", " + std::to_string(summary.without_speech) + " without speech";
  out += ": " + length_text(summary.audio) + " of audio in " + short_number(summary.elapsed.count()) + " s";
  if (summary.elapsed > Seconds(0)) out += ", " + short_number(summary.audio / summary.elapsed) + " × real time";
  out += " (model loaded in " + short_number(summary.model_load.count()) + " s)\n";
  if (summary.done == 0) return out;

  if (!summary.replaced.empty())
    out += replaced_text(summary.replaced) + "; " + field("skip_existing") +
           " leaves out inputs whose outputs are all there\n";
  if (summary.replacements > 0)
    out += "Replaced by " + field("replace") + ": " + counted(summary.replacements, "text") + "\n";
  if (summary.failed_commands > 0)
    out += "Commands of " + field("on_done") + " that failed: " + std::to_string(summary.failed_commands) +
           "; the outputs are there\n";
  out += time_lines(summary) + count_lines(summary.counts);
  if (summary.worker_restarts > 0)
    out += "The worker had to be restarted " + counted(summary.worker_restarts, "time") +
           "; its windows were done again\n";
  if (const auto tuned = summary.tuning ? tuning_sentence(*summary.tuning) : std::string(); !tuned.empty())
    out += tuned + "\n";
  if (!summary.finding.empty()) out += summary.finding + "\n";
  return out;
}

std::string speakers_text(const std::vector<SpeakerSummary>& speakers) {
  std::string text;
  for (const SpeakerSummary& one : speakers) {
    text += "  " + one.speaker + "  " + length_text(Seconds(one.seconds));
    if (one.known_at) text += ", like its clip by " + fixed_text(*one.known_at, 2);
    if (!one.nearest.empty()) text += ", nearest " + one.nearest + " (" + fixed_text(one.cosine, 2) + ")";
    text += one.is_doubtful ? "  doubtful\n" : "\n";
  }
  return text;
}

}  // namespace tutti
