#include "train/classifier/set_report.h"

#include <algorithm>
#include <cmath>

#include "audio/synth/audio_file.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/output_ownership.h"
#include "feed/feature_cache.h"
#include "view/charts.h"
#include "view/markup.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string percent(double share) {
  return std::isfinite(share) ? fixed_text(100 * share, 2) + " %" : "-";
}

std::string cell(const std::string& text) {
  return "<td>" + escaped_markup(text) + "</td>";
}

std::string number(const std::string& text) {
  return "<td class=\"n\">" + text + "</td>";
}

double share_of(const GroupScore& group) {
  return static_cast<double>(group.right) / static_cast<double>(group.files);
}

std::vector<std::string> groups_of(const LabelledSet& set, const std::vector<FileAnswer>& answers) {
  std::vector<std::string> groups;
  for (const auto& answer : answers) groups.push_back(set.group_of_file(answer.first));
  return groups;
}

/// How recordings of several clips are answered; empty where there are none.
std::string vote_text(const ScoredSet& a) {
  const auto clips = a.set.files(), recordings = std::ssize(a.answers);
  if (clips <= recordings) return {};
  return std::to_string(recordings) + " recordings of " + std::to_string(clips) +
         " clips; a recording's answer is the mean of its clips' log-probabilities";
}

/// Groups with the least accuracy first.
std::vector<std::pair<std::string, GroupScore>> worst_groups(const ScoredSet& a) {
  std::vector<std::pair<std::string, GroupScore>> groups(a.groups.begin(), a.groups.end());
  std::ranges::stable_sort(groups, {}, [](const auto& one) { return share_of(one.second); });
  return groups;
}

std::string labels_table(const ScoredSet& a) {
  std::string html =
      "<table><tr><th>label<th>precision<th>recall<th>F1<th>ROC area<th>average precision<th>files</tr>\n";
  for (std::size_t label = 0; label < a.labels.size(); ++label) {
    const auto& score = a.scores.labels[label];
    const auto& curve = a.curves[label];
    html += "<tr>" + cell(a.labels[label]) + number(percent(score.precision)) + number(percent(score.recall)) +
            number(percent(score.f1)) + number(std::isfinite(curve.roc_area) ? fixed_text(curve.roc_area, 4) : "-") +
            number(std::isfinite(curve.average_precision) ? fixed_text(curve.average_precision, 4) : "-") +
            number(std::to_string(score.files)) + "</tr>\n";
  }
  return html + "</table>\n";
}

std::string confusion_table(const ScoredSet& a) {
  std::string html = "<h2>What is taken for what</h2><table><tr><th>true label";
  for (const auto& label : a.labels) html += "<th>" + escaped_markup(label);
  html += "</tr>\n";
  for (std::size_t label = 0; label < a.labels.size(); ++label) {
    html += "<tr>" + cell(a.labels[label]);
    for (std::size_t other = 0; other < a.labels.size(); ++other)
      html += std::string(label == other ? "<td class=\"n right\">" : "<td class=\"n\">") +
              std::to_string(a.scores.confusion[label][other]) + "</td>";
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

std::string curves(const ScoredSet& a) {
  std::vector<Curve> roc, precision;
  for (std::size_t label = 0; label < a.labels.size(); ++label) {
    const auto& curve = a.curves[label];
    if (curve.precision.empty()) continue;
    roc.push_back({a.labels[label] + ": true positive rate", curve.roc});
    precision.push_back({a.labels[label] + ": precision", curve.precision});
  }
  return "<h2>Curves</h2>\n" + line_chart_svg("ROC", "false positive rate", roc) + "\n" +
         line_chart_svg("Precision and recall", "recall", precision) + "\n";
}

std::string calibration_table(const ScoredSet& a) {
  std::string html = "<h2>Calibration</h2><p>Expected calibration error " + percent(a.calibration.error) +
                     "</p><table><tr><th>mean score<th>share that is right<th>files</tr>\n";
  for (const auto& bin : a.calibration.bins)
    if (bin.files > 0)
      html += "<tr>" + number(percent(bin.score)) + number(percent(bin.right)) + number(std::to_string(bin.files)) +
              "</tr>\n";
  return html + "</table>\n";
}

std::string groups_table(const ScoredSet& a) {
  std::string html = "<h2>By group</h2><table><tr><th>group<th>right<th>files</tr>\n";
  for (const auto& [name, score] : worst_groups(a))
    html += "<tr>" + cell(name) + number(percent(share_of(score))) + number(std::to_string(score.files)) + "</tr>\n";
  return html + "</table>\n";
}

/// The features of a file.
std::string picture(const LabelledSet& set, std::int64_t file) {
  const auto& g = set.geometry();
  const std::int64_t mels = g.mel.n_mels, frames = g.frames(), columns = g.segments() * frames;
  const auto* mel = set.mel().data() + file * columns * mels;
  std::vector<float> values;
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t bin = 0; bin < mels; ++bin)
      values.push_back(from_half(mel[(column / frames * mels + bin) * frames + column % frames]));
  return grid_picture_svg(values, mels);
}

/// A clip as a WAV file of 16 bits; louder ones than those hold are made softer.
std::string wav_of(const std::vector<float>& clip, Hertz rate) {
  constexpr float kMost = 32767;
  float peak = 1;
  for (const float value : clip) peak = std::max(peak, std::abs(value));
  std::vector<std::int16_t> pcm;
  for (const float value : clip) pcm.push_back(static_cast<std::int16_t>(std::lround(kMost * value / peak)));
  return wav_bytes(pcm, rate);
}

/// A player of a file below the folder that the set was made of, or of the waveform that the set has of it.
std::string player(const ScoredSet& a, std::int64_t file, const ReportAudio& playing) {
  const auto& g = a.set.geometry();
  const auto recording = a.set.recording_of_file(file);
  const auto start = start_of_clip_named(a.set.name_of_file(file), recording);
  const auto path = playing.folder / recording;
  std::error_code ignored;
  if (!playing.folder.empty() && fs::exists(path, ignored))
    return audio_player("file://" + url_of_path(fs::absolute(path).string()), start.count(),
                        (start + g.seconds()).count());
  if (!playing.waveforms) return {};
  const auto clip = playing.waveforms->clip(file);
  if (!clip) return escaped_markup(clip.error().what);
  return audio_player(url_of_bytes("audio/wav", wav_of(*clip, g.mel.rate)));
}

std::string worst_files(const ScoredSet& a, const ReportAudio& playing) {
  constexpr std::size_t kWorst = 20;
  struct Wrong {
    double score;
    std::int64_t file, label;  // its first clip; the label it was given
  };
  std::vector<Wrong> wrong;
  for (std::size_t i = 0; i < a.answers.size(); ++i)
    if (const auto label = label_of(a.rule, a.answers[i]); label != a.answers[i].label)
      wrong.push_back({a.answers[i].probabilities[static_cast<std::size_t>(label)], a.answers[i].first, label});
  std::ranges::stable_sort(wrong, std::ranges::greater(), &Wrong::score);
  if (wrong.empty()) return "<p>Every file is named right.</p>\n";
  std::string html =
      "<h2>Wrong with the highest score</h2><table><tr><th>file<th>true label<th>answer<th>score"
      "<th>features<th>audio</tr>\n";
  for (const auto& one : std::span(wrong).first(std::min(kWorst, wrong.size())))
    html += "<tr>" + cell(a.set.recording_of_file(one.file)) +
            cell(a.labels[static_cast<std::size_t>(a.set.label_of_file(one.file))]) +
            cell(a.labels[static_cast<std::size_t>(one.label)]) + number(percent(one.score)) + "<td>" +
            picture(a.set, one.file) + "<td>" + player(a, one.file, playing) + "</tr>\n";
  return html + "</table>\n";
}

}  // namespace

ScoredSet scored_set(const LabelledSet& set, const std::vector<FileAnswer>& answers,
                     const std::vector<std::string>& labels, const AgainstRule& rule) {
  ScoredSet scored{.set = set, .answers = answers, .labels = labels, .rule = rule};
  scored.scores = score_files(answers, labels.size(), rule);
  scored.summary = task_scores(scored.scores, labels, rule);
  for (std::size_t label = 0; label < labels.size(); ++label) scored.curves.push_back(label_curve(answers, label));
  scored.calibration = calibration_of(answers, rule);
  scored.groups = group_scores(answers, rule, groups_of(set, answers));
  if (std::ranges::all_of(scored.groups, [](const auto& group) { return group.second.files == 1; }))
    scored.groups.clear();
  return scored;
}

std::string set_report_json(const ScoredSet& a) {
  auto json = Json::parse(a.summary.json);
  json["confusion"] = a.scores.confusion;
  json["clips"] = a.set.files();
  if (a.set.files() > std::ssize(a.answers)) json["vote"] = "mean of log-probabilities";
  const auto defined = [](double value) { return std::isfinite(value) ? Json(value) : Json(); };
  for (std::size_t label = 0; label < a.labels.size(); ++label) {
    json["labels"][a.labels[label]]["roc_auc"] = defined(a.curves[label].roc_area);
    json["labels"][a.labels[label]]["average_precision"] = defined(a.curves[label].average_precision);
  }
  json["calibration_error"] = a.calibration.error;
  for (const auto& bin : a.calibration.bins)
    if (bin.files > 0)
      json["calibration"].push_back({{"score", bin.score}, {"right", bin.right}, {"files", bin.files}});
  for (const auto& [name, score] : a.groups)
    json["groups"][name] = {{"files", score.files}, {"accuracy", share_of(score)}};
  return json_line(json) + "\n";
}

std::string set_report_text(const ScoredSet& a) {
  std::string text = a.summary.text + "\n";
  if (const auto vote = vote_text(a); !vote.empty()) text += "  " + vote + "\n";
  for (std::size_t label = 0; label < a.labels.size(); ++label) {
    const auto& score = a.scores.labels[label];
    const auto area = a.curves[label].roc_area;
    text += "  " + a.labels[label] + ": precision " + percent(score.precision) + ", recall " + percent(score.recall) +
            ", F1 " + percent(score.f1) + (std::isfinite(area) ? ", ROC area " + fixed_text(area, 4) : "") + ", " +
            std::to_string(score.files) + " files\n";
    for (std::size_t other = 0; other < a.labels.size(); ++other)
      if (const auto wrong = a.scores.confusion[label][other]; other != label && wrong > 0)
        text += "    " + std::to_string(wrong) + " taken for " + a.labels[other] + "\n";
  }
  text += "  expected calibration error " + percent(a.calibration.error) + "\n";
  if (a.groups.empty()) return text;
  constexpr std::size_t kWorst = 5;
  const auto groups = worst_groups(a);
  text += "  groups with the least accuracy:\n";
  for (const auto& [name, score] : std::span(groups).first(std::min(kWorst, groups.size())))
    text += "    " + name + ": " + percent(share_of(score)) + " of " + std::to_string(score.files) + " files\n";
  return text;
}

std::string set_report_html(const ScoredSet& a, const ReportAudio& playing) {
  return report_head("Classifier", kEvaluationMark) + "<h1>Classifier</h1>\n<p>" + escaped_markup(a.summary.text) +
         "</p>\n" + (vote_text(a).empty() ? "" : "<p>" + vote_text(a) + "</p>\n") + labels_table(a) +
         confusion_table(a) + curves(a) + calibration_table(a) + (a.groups.empty() ? "" : groups_table(a)) +
         worst_files(a, playing);
}

}  // namespace tutti
