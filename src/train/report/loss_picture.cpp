#include "train/report/loss_picture.h"

#include <sstream>
#include <vector>

#include "base/json.h"
#include "view/charts.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

double number(const Json& line, const char* key) {
  const auto found = line.find(key);
  return found != line.end() && found->is_number() ? found->get<double>() : std::nan("");
}

}  // namespace

std::string loss_picture(std::string_view metrics) {
  Curve loss{"loss"}, speed{"samples per second"}, waiting{"share of the time waiting for data"},
      errors{"word error rate of evaluations"}, padding{"share of the frames that is padding"},
      gpu{"GPU, share of the time busy"}, cpu{"CPU, share of the time busy"};
  std::istringstream lines{std::string(metrics)};
  for (std::string text; std::getline(lines, text);) {
    const auto line = Json::parse(text, nullptr, false);
    if (!line.is_object()) continue;
    const double step = number(line, "step");
    if (const auto evaluation = line.find("evaluation"); evaluation != line.end()) {
      errors.points.emplace_back(step, number(*evaluation, "wer"));
      continue;
    }
    loss.points.emplace_back(step, number(line, "loss"));
    speed.points.emplace_back(step, number(line, "samples") / number(line, "seconds"));
    waiting.points.emplace_back(step, number(line, "waited") / number(line, "seconds"));
    if (number(line, "frames") > 0) padding.points.emplace_back(step, number(line, "padding") / number(line, "frames"));
    if (line.contains("gpu")) gpu.points.emplace_back(step, number(line, "gpu"));
    if (line.contains("cpu")) cpu.points.emplace_back(step, number(line, "cpu"));
  }
  std::vector<Curve> curves{loss, errors, speed, waiting};
  for (const auto& curve : {padding, gpu, cpu})
    if (!curve.points.empty()) curves.push_back(curve);  // what nothing is known of has no panel
  return line_chart_svg("Training", "step", curves);
}

}  // namespace tutti
