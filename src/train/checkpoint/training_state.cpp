#include "train/checkpoint/training_state.h"

#include <cmath>

#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// A position may be any bytes, and so may a path.
std::string hex_of(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace

std::string show_state(const TrainingState& s) {
  Json positions = Json::array(), row_limits = Json::array();
  for (const auto& position : s.positions) positions.push_back(hex_of(position));
  for (const auto& limit : s.row_limits) row_limits.push_back(show_row_limit(limit));
  return Json{{"step", s.step},
              {"epoch", s.epoch},
              {"samples", s.samples},
              {"recordings", s.recordings},
              {"left_out", s.left_out},
              {"left_out_in_row", s.left_out_in_row},
              {"is_scaled", s.numbers.is_scaled},
              {"loss_scale", s.numbers.loss_scale},
              {"scaled_steps", s.numbers.scaled_steps},
              {"best_score", std::isfinite(s.best_score) ? Json(s.best_score) : Json()},
              {"best_step", s.best_step},
              {"without_progress", s.without_progress},
              {"evaluated_step", s.evaluated_step},
              {"judge", hex_of(s.evaluator)},
              {"model_step", s.model_step},
              {"evaluation_due", s.evaluation_due},
              {"untended", s.has_due_work},
              {"seconds", s.seconds},
              {"positions", positions},
              {"row_limits", row_limits}}
             .dump(1) +
         "\n";
}

Result<TrainingState> read_state(std::string_view text) {
  try {
    const auto json = Json::parse(text);
    TrainingState s;
    json.at("step").get_to(s.step);
    json.at("epoch").get_to(s.epoch);
    json.at("samples").get_to(s.samples);
    s.recordings = json.value("recordings", s.samples);  // older checkpoints did not count them
    json.at("left_out").get_to(s.left_out);
    json.at("left_out_in_row").get_to(s.left_out_in_row);
    json.at("loss_scale").get_to(s.numbers.loss_scale);
    s.numbers.is_scaled =
        json.value("is_scaled", s.numbers.loss_scale != 1);  // older checkpoints left it to be guessed
    json.at("scaled_steps").get_to(s.numbers.scaled_steps);
    if (!json.at("best_score").is_null()) json.at("best_score").get_to(s.best_score);
    json.at("best_step").get_to(s.best_step);
    json.at("without_progress").get_to(s.without_progress);
    s.evaluated_step = json.value("evaluated_step", std::int64_t{0});  // older checkpoints knew none of the three
    s.evaluator = bytes_of(json.value("judge", std::string()));
    s.model_step = json.value("model_step", s.best_step);
    s.evaluation_due = json.value("evaluation_due", false);  // older checkpoints waited for theirs
    s.has_due_work = json.value("untended", false);          // nor were there any behind a feed that had failed
    json.at("seconds").get_to(s.seconds);
    for (const auto& position : json.at("positions")) s.positions.push_back(bytes_of(position.get<std::string>()));
    for (const auto& limit : json.value("row_limits", Json::array()))  // older checkpoints did not keep them
      s.row_limits.push_back(read_row_limit(limit.get<std::string>()));
    return s;
  } catch (const std::exception& problem) {
    return fail(Fault::corrupt, problem.what());
  }
}

}  // namespace tutti
