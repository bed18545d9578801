#include "train/evaluation/html_report.h"

#include <algorithm>
#include <map>
#include <span>

#include "base/numbers.h"
#include "base/output_ownership.h"
#include "text/utf8.h"
#include "train/evaluation/character_pairs.h"
#include "view/markup.h"

namespace tutti {
namespace {

constexpr std::size_t kWorst = 50;
constexpr std::size_t kConfusions = 30;

std::string cell(const std::string& text) {
  return "<td>" + escaped_markup(text) + "</td>";
}

std::string percent(double share) {
  return "<td class=\"n\">" + fixed_text(100 * share, 2) + " %</td>";
}

/// The rate over this many samples; with none there is no rate.
std::string rate(std::int64_t samples, double share) {
  return samples > 0 ? percent(share) : "<td class=\"n\">–</td>";
}

std::string number(std::int64_t value) {
  return "<td class=\"n\">" + std::to_string(value) + "</td>";
}

std::string rates_table(const Evaluation& e) {
  std::string html = "<table><tr><th>condition<th>WER<th>CER<th>silence recognised as silence<th>samples</tr>\n";
  const auto add_row = [&html](const std::string& name, const ConditionScore& v) {
    const auto texts = v.samples - v.noise_samples;
    html += "<tr>" + cell(name) + rate(texts, v.wer) + rate(texts, v.cer) + rate(v.noise_samples, v.noise_accuracy) +
            number(v.samples) + "</tr>\n";
  };
  add_row("all", rates_of(e));
  for (const auto& [condition, score] : e.per_condition) add_row(condition, score);
  return html + "</table>\n" +
         (e.compute_type.empty() ? "" : "<p>The network computed in " + escaped_markup(e.compute_type) + ".</p>\n");
}

struct ScoredSample {
  const SampleResult* sample = nullptr;
  Evaluation score{};
};

/// Plays the file where it is stored: the page stays small, and plays on the machine that evaluated.
std::string player(const SampleResult& sample) {
  if (sample.audio.empty()) return {};
  const auto url = "file://" + url_of_path(std::filesystem::absolute(sample.audio).string());
  return audio_player(url, sample.start, sample.end);
}

std::string worst_table(const std::vector<SampleResult>& samples, const std::string& normaliser) {
  std::vector<ScoredSample> scored;
  for (const auto& sample : samples) scored.push_back({&sample, score_samples({sample}, normaliser)});
  const auto badness = [](const ScoredSample& one) { return one.score.cer + (1 - one.score.noise_accuracy); };
  std::ranges::stable_sort(scored, std::ranges::greater(), badness);
  std::string html =
      "<h2>Worst samples</h2><table><tr><th>sample<th>condition<th>CER<th>reference<th>hypothesis<th>audio</tr>\n";
  for (const auto& one : std::span(scored).first(std::min(kWorst, scored.size()))) {
    if (badness(one) == 0) break;
    html += "<tr>" + cell(one.sample->id) + cell(one.sample->condition) +
            rate(1 - one.score.noise_samples, one.score.cer) + cell(one.sample->reference) +
            cell(one.sample->hypothesis) + "<td>" + player(*one.sample) + "</tr>\n";
  }
  return html + "</table>\n";
}

/// One character as people see it.
std::string shown(char32_t c) {
  if (c == 0) return "nothing";
  return c == U' ' ? "space" : to_utf8(std::u32string(1, c));
}

/// In the texts as errors were counted.
std::string confusion_table(const std::vector<SampleResult>& samples, const std::string& normaliser) {
  std::map<CharacterPair, std::int64_t> counts;
  for (const auto& sample : samples)
    for (const auto& pair :
         differing_characters(normalised(sample.reference, normaliser), normalised(sample.hypothesis, normaliser)))
      ++counts[pair];
  std::vector<std::pair<CharacterPair, std::int64_t>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::ranges::greater(), [](const auto& row) { return row.second; });
  std::string html = "<h2>Characters taken for others</h2><table><tr><th>reference<th>hypothesis<th>times</tr>\n";
  for (const auto& [pair, count] : std::span(rows).first(std::min(kConfusions, rows.size())))
    html += "<tr>" + cell(shown(pair.reference)) + cell(shown(pair.hypothesis)) + number(count) + "</tr>\n";
  return html + "</table>\n";
}

}  // namespace

std::string evaluation_html(const Evaluation& evaluation, const std::vector<SampleResult>& samples,
                            const std::string& normaliser) {
  return report_head("Evaluation", kEvaluationMark) + "<h1>Evaluation</h1>\n" + rates_table(evaluation) +
         worst_table(samples, normaliser) + confusion_table(samples, normaliser);
}

}  // namespace tutti
