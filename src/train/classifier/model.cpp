#include "train/classifier/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/files.h"
#include "base/json.h"
#include "base/try.h"
#include "train/checkpoint/tensor_file.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kInCaches = 64;  // rows that stay in a processor's caches from layer to layer

constexpr const char* kModelType = "tutti-classifier";

std::vector<float> values_of(const at::Tensor& row) {
  const auto flat = row.to(at::kCPU, at::kFloat).contiguous();
  const auto* data = flat.const_data_ptr<float>();
  return {data, data + flat.numel()};
}

at::Tensor column_of(const std::vector<float>& values, at::Device device) {
  return at::tensor(values, at::TensorOptions(at::kFloat)).unsqueeze(1).to(device);
}

/// The baseline's probabilities of every segment: of all segments of a clip the same.
at::Tensor baseline_probabilities(const ClassifierModel& model, const at::Tensor& rows) {
  const auto segments = model.geometry.segments();
  const auto clips = rows.to(at::kDouble).reshape({-1, segments, model.shape.n_mels, model.shape.frames});
  constexpr std::array<std::int64_t, 2> over_time{1, 3};
  const auto mean = clips.mean(over_time);
  const auto deviation = (clips.square().mean(over_time) - mean.square()).clamp_min(0).sqrt();
  const auto own = std::span(model.weights).last(2);
  const auto& weight = own[0].value;
  const auto& bias = own[1].value;
  const auto logits = at::linear(at::cat({mean, deviation}, 1), weight.to(at::kDouble), bias.to(at::kDouble));
  return at::softmax(logits, 1).to(at::kFloat).repeat_interleave(segments, 0);
}

constexpr const char* kBaselineWeight = "baseline.weight";
constexpr const char* kBaselineBias = "baseline.bias";

std::vector<Parameter> empty_weights(const ClassifierModel& model, at::Device device) {
  std::vector<Parameter> weights;
  if (!model.is_baseline) weights = new_classifier(model.shape, 0, device);
  if (!model.is_baseline && !model.is_mixed) return weights;
  const auto options = at::TensorOptions(at::kFloat).device(device);
  weights.push_back({kBaselineWeight, at::empty({model.shape.labels, 2 * model.shape.n_mels}, options)});
  weights.push_back({kBaselineBias, at::empty({model.shape.labels}, options)});
  return weights;
}

Result<FileDecision> read_decision(const std::filesystem::path& path) {
  const auto text = TRY(read_regular_file(path));
  const auto json = Json::parse(text, nullptr, false);
  const auto number = [&](const char* key) { return json.is_object() && json.contains(key) && json[key].is_number(); };
  if (!number("threshold") || !number("long_share"))
    return fail(Fault::corrupt, path.string() + ": expected numbers 'threshold' and 'long_share'");
  return FileDecision{json["threshold"], json["long_share"]};
}

}  // namespace

at::Tensor ClassifierModel::normalised(const at::Tensor& features) const {
  const auto rows = features.reshape({-1, shape.n_mels, shape.frames}).to(mean.device(), at::kFloat);
  return (rows - mean) / deviation;
}

at::Tensor ClassifierModel::probabilities(const at::Tensor& rows) const {
  const c10::AutoGradMode no_gradients(false);
  if (is_baseline) return with_decided(baseline_probabilities(*this, rows), {});
  if (!is_mixed) return network_probabilities(rows);
  constexpr double kLeast = 1e-9;
  const auto logarithm = [](const at::Tensor& probabilities) { return probabilities.clamp_min(kLeast).log(); };
  const auto network = logarithm(network_probabilities(rows).narrow(1, 0, shape.labels));
  return with_decided(at::softmax(0.5 * (network + logarithm(baseline_probabilities(*this, rows))), 1), {});
}

at::Tensor ClassifierModel::network_probabilities(const at::Tensor& rows) const {
  if (rows.device().is_cpu() && rows.size(0) > kInCaches) {
    std::vector<at::Tensor> parts;
    for (const auto& part : rows.split(kInCaches)) parts.push_back(network_probabilities(part));
    return at::cat(parts);
  }
  const auto logits = classifier_logits(shape, weights, rows, 0);
  return with_decided(at::softmax(logits.labels.to(at::kFloat), 1), logits.against);
}

ClassifierModel ClassifierModel::mixed_with(const ClassifierModel& baseline) const {
  const c10::AutoGradMode no_gradients(false);
  ClassifierModel mixed = *this;
  mixed.is_mixed = true;
  // A baseline takes bands as they are, a network normalised ones: what undoes that is in the baseline's weights.
  const auto halves = baseline.weights[0].value.to(mean.device(), at::kDouble).chunk(2, 1);
  const auto center = mean.to(at::kDouble).squeeze(1), scale = deviation.to(at::kDouble).squeeze(1);
  const auto bias = baseline.weights[1].value.to(mean.device(), at::kDouble) + at::mv(halves[0], center);
  mixed.weights.push_back({kBaselineWeight, at::cat({halves[0] * scale, halves[1] * scale}, 1).to(at::kFloat)});
  mixed.weights.push_back({kBaselineBias, bias.to(at::kFloat)});
  return mixed;
}

/// Probabilities with those that files are decided by behind them. `against`: logits of the second head; undefined: the
/// labels' probabilities are both halves.
at::Tensor ClassifierModel::with_decided(const at::Tensor& probabilities, const at::Tensor& logits) const {
  const auto which = rule().label;
  if (which < 0) return at::cat({probabilities, at::zeros({probabilities.size(0), 1}, probabilities.options())}, 1);
  const auto own = probabilities.select(1, which);
  const auto both = logits.defined() ? 0.5 * own + 0.5 * at::sigmoid(logits.to(at::kFloat)) : own;
  return at::cat({probabilities, both.unsqueeze(1)}, 1);
}

FileAnswer ClassifierModel::answer_of(const at::Tensor& probabilities) const {
  FileAnswer answer{.probabilities = values_of(probabilities.narrow(1, 0, shape.labels).mean(0))};
  if (!against.empty())
    answer.longs = long_probabilities(values_of(probabilities.select(1, shape.labels)), geometry.shorts);
  return answer;
}

AgainstRule ClassifierModel::rule() const {
  const auto found = std::ranges::find(labels, against);
  return {against.empty() || found == labels.end() ? -1 : found - labels.begin(), decision};
}

std::map<std::string, std::string> ClassifierModel::files(const std::string& weight_type) const {
  Json geometry_json = Json::parse(show_geometry(geometry));
  geometry_json["longs"] = geometry.longs;
  geometry_json["shorts"] = geometry.shorts;
  Json config{{"model_type", kModelType},
              {"torch_dtype", weight_type},
              {"labels", labels},
              {"against", against},
              {"binary", is_binary},
              {"geometry", geometry_json},
              {is_baseline ? "baseline" : "network", Json::parse(show_shape(shape))},
              {"normalisation", {{"mean", values_of(mean)}, {"deviation", values_of(deviation)}}}};
  if (is_mixed) config["mixed"] = true;
  Json meta{{"labels", labels},
            {"against", against},
            {"kind", is_baseline ? "baseline: logistic regression on mean and deviation of bands"
                     : is_mixed  ? "network and baseline: the mean of the logarithms of their probabilities"
                                 : "network"},
            {"decision", "the label with the highest mean probability over all segments"},
            {"vote", "of a recording's clips the mean of log-probabilities"}};
  if (!against.empty()) {
    meta["decision"] = against + " where at least long_share of a file's long segments reach the threshold, half of " +
                       "softmax and sigmoid each, mean over short segments; else the most probable other label";
    meta["threshold"] = decision.threshold;
    meta["long_share"] = decision.long_share;
  }
  return {{"config.json", config.dump(1) + "\n"}, {"model_meta.json", meta.dump(1) + "\n"}};
}

Result<ClassifierModel> ClassifierModel::load(const std::filesystem::path& folder, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  const auto path = folder / "config.json";
  const auto text = TRY(read_regular_file(path));
  ClassifierModel model;
  try {
    const auto json = Json::parse(text);
    if (json.at("model_type") != kModelType)
      return fail(Fault::usage,
                  path.string() + ": this model is no classifier, its model_type is " + json.at("model_type").dump());
    const auto& stored = json.at("geometry");
    auto geometry = read_geometry(stored.dump(), stored.at("longs"), stored.at("shorts"));
    model.is_baseline = json.contains("baseline");
    model.is_mixed = !model.is_baseline && json.value("mixed", false);
    auto shape = read_shape(json.at(model.is_baseline ? "baseline" : "network").dump());
    if (!geometry || !shape) return fail_in(path.string(), !geometry ? geometry.error() : shape.error());
    model.geometry = *geometry;
    model.shape = *shape;
    model.labels = json.at("labels").get<std::vector<std::string>>();
    model.against = json.at("against");
    model.is_binary = json.value("binary", false);
    model.mean = column_of(json.at("normalisation").at("mean").get<std::vector<float>>(), device);
    model.deviation = column_of(json.at("normalisation").at("deviation").get<std::vector<float>>(), device);
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, path.string() + ": " + error.what());
  }
  if (!model.against.empty()) {
    model.decision = TRY(read_decision(folder / "model_meta.json"));
  }
  const bool agrees = std::ssize(model.labels) == model.shape.labels && model.mean.size(0) == model.shape.n_mels &&
                      model.geometry.mel.n_mels == model.shape.n_mels && model.geometry.frames() == model.shape.frames;
  if (!agrees) return fail(Fault::corrupt, path.string() + ": geometry, labels and network do not fit each other");
  model.weights = empty_weights(model, device);
  TRY(read_weights(folder / "model.safetensors", model.weights));
  return model;
}

}  // namespace tutti
