#include "train/classifier/answer_writer.h"

#include <cmath>

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "text/manifest/csv.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr double kMilliseconds = 1000;

/// Seconds to the millisecond.
double rounded(Seconds time) {
  return std::round(time.count() * kMilliseconds) / kMilliseconds;
}

void add_answer(Json& json, const std::vector<std::string>& labels, const AudioAnswer& answer) {
  json["label"] = labels[answer.best];
  json["score"] = answer.probabilities[answer.best];
  json["scores"] = Json::object();
  for (std::size_t label = 0; label < labels.size(); ++label)
    json["scores"][labels[label]] = answer.probabilities[label];
}

std::string json_text(const std::vector<std::string>& labels, const ClassifiedFile& answer) {
  Json json{{"file", answer.file}};
  if (!answer.error.empty()) {
    json["error"] = answer.error;
    return json_line(json) + "\n";
  }
  add_answer(json, labels, answer);
  if (answer.is_padded) json["padded"] = true;
  for (const auto& clip : answer.clips) {
    Json one{{"start", rounded(clip.start)}, {"end", rounded(clip.end)}};
    add_answer(one, labels, clip);
    json["clips"].push_back(std::move(one));
  }
  return json_line(json) + "\n";
}

std::string percent(const AudioAnswer& answer) {
  return fixed_text(100 * answer.score(), 1) + " %";
}

std::string people_text(const std::vector<std::string>& labels, const ClassifiedFile& answer) {
  if (!answer.error.empty())
    return (answer.error.starts_with(answer.file + ": ") ? "" : answer.file + ": ") + answer.error + "\n";
  auto text = answer.file + ": " + labels[answer.best] + " " + percent(answer) +
              (answer.is_padded ? " (shorter than one segment, filled up with zeros)" : "") + "\n";
  for (const auto& clip : answer.clips)
    text += "  " + fixed_text(clip.start.count(), 2) + " to " + fixed_text(clip.end.count(), 2) +
            " s: " + labels[clip.best] + " " + percent(clip) + "\n";
  return text;
}

/// A field of RFC 4180.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return csv_quoted(text);
}

std::string table_row(const std::string& start, const std::vector<std::string>& labels, const AudioAnswer& answer) {
  std::string row = start + "," + csv_field(labels[answer.best]) + "," + fixed_text(answer.score(), 6) + ",";
  for (const float probability : answer.probabilities) row += "," + fixed_text(probability, 6);
  return row + "\n";
}

std::string table_rows(const std::vector<std::string>& labels, const ClassifiedFile& answer) {
  const auto file = csv_field(answer.file);
  if (!answer.error.empty()) return file + ",,,,," + csv_field(answer.error) + std::string(labels.size(), ',') + "\n";
  if (answer.clips.empty()) return table_row(file + ",,", labels, answer);
  std::string rows;
  for (const auto& clip : answer.clips)
    rows +=
        table_row(file + "," + fixed_text(clip.start.count(), 3) + "," + fixed_text(clip.end.count(), 3), labels, clip);
  return rows;
}

std::string table_head(const std::vector<std::string>& labels) {
  std::string head = "file,start,end,label,score,error";
  for (const auto& label : labels) head += "," + csv_field(label);
  return head + "\n";
}

}  // namespace

std::string AnswerWriter::lines(const std::vector<std::string>& labels, const ClassifiedFile& answer) {
  switch (format_) {
    case AnswerFormat::text: return people_text(labels, answer);
    case AnswerFormat::json: return json_text(labels, answer);
    case AnswerFormat::csv: break;
  }
  const auto head = has_head_ ? std::string() : table_head(labels);
  has_head_ = true;
  return head + table_rows(labels, answer);
}

Result<void> SortedCopies::add(const std::vector<std::string>& labels, const ClassifiedFile& answer) {
  if (!answer.error.empty() || answer.score() < least_score_) return {};
  const auto& label = labels[answer.best];
  if (label.find('/') != std::string::npos || label == ".." || label == ".")
    return fail(Fault::usage, field("copy_to") + ": the model's label '" + label + "' is no name of a folder");
  const auto content = TRY(read_file(answer.file));
  const auto folder = folder_ / label;
  if (auto made = make_folders(folder); !made) return made;
  const fs::path name = fs::path(answer.file).filename();
  for (int copy = 1;; ++copy) {
    const auto path =
        folder /
        (copy == 1 ? name.string() : name.stem().string() + "-" + std::to_string(copy) + name.extension().string());
    if (!is_taken(path)) {
      auto written = write_file_atomically(path, content);
      copied_ += written.has_value();
      return written;
    }
    if (const auto there = read_regular_file(path); there && *there == content) {
      ++present_;
      return {};
    }
  }
}

}  // namespace tutti
