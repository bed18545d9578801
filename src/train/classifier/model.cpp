#include "train/classifier/model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "model/formats/formats.h"
#include "model/tensor_bytes.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kModelType = "tutti-classifier";

std::vector<float> values_of(const at::Tensor& row) {
  const auto flat = row.to(at::kCPU).contiguous();
  const auto* data = flat.const_data_ptr<float>();
  return {data, data + flat.numel()};
}

at::Tensor column_of(const std::vector<float>& values, at::Device device) {
  return at::tensor(values, at::TensorOptions(at::kFloat)).unsqueeze(1).to(device);
}

/// Copies the stored tensors into `weights`, from whatever float type they have.
Result<void> read_weights(const std::filesystem::path& path, const std::vector<Parameter>& weights) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  const auto stored = parse_safetensors(file->bytes());
  if (!stored) return fail_in(path.string(), stored.error());
  for (const auto& weight : weights) {
    const auto found = std::ranges::find(*stored, weight.name, &StoredTensor::name);
    if (found == stored->end() || at::IntArrayRef(found->shape) != weight.value.sizes())
      return fail(Fault::corrupt,
                  path.string() + ": tensor '" + weight.name + "' is not there in the shape that config.json promises");
    const auto type = found->type == ElementType::f16    ? at::kHalf
                      : found->type == ElementType::bf16 ? at::kBFloat16
                                                         : at::kFloat;
    auto copy = at::empty(weight.value.sizes(), at::TensorOptions(type));
    if (copy.nbytes() != found->bytes.size())
      return fail(Fault::corrupt, path.string() + ": tensor '" + weight.name + "' is of a type that is not known here");
    std::ranges::copy(found->bytes, static_cast<std::byte*>(copy.mutable_data_ptr()));
    at::Tensor(weight.value).copy_(copy);
  }
  return {};
}

}  // namespace

at::Tensor ClassifierModel::normalised(const at::Tensor& features) const {
  const auto rows = features.reshape({-1, shape.n_mels, shape.frames}).to(mean.device(), at::kFloat);
  return (rows - mean) / deviation;
}

at::Tensor ClassifierModel::probabilities(const at::Tensor& rows) const {
  const c10::AutoGradMode no_gradients(false);
  return at::softmax(classifier_logits(shape, weights, rows, 0).labels.to(at::kFloat), 1);
}

std::map<std::string, std::string> ClassifierModel::files(const std::string& weight_type) const {
  Json geometry_json = Json::parse(show_geometry(geometry));
  geometry_json["longs"] = geometry.longs;
  geometry_json["shorts"] = geometry.shorts;
  const Json config{{"model_type", kModelType},
                    {"torch_dtype", weight_type},
                    {"labels", labels},
                    {"against", against},
                    {"geometry", geometry_json},
                    {"network", Json::parse(show_shape(shape))},
                    {"normalisation", {{"mean", values_of(mean)}, {"deviation", values_of(deviation)}}}};
  const Json meta{{"labels", labels},
                  {"against", against},
                  {"decision", "the label with the highest mean probability over all segments"}};
  return {{"config.json", config.dump(1) + "\n"}, {"model_meta.json", meta.dump(1) + "\n"}};
}

Result<ClassifierModel> ClassifierModel::load(const std::filesystem::path& folder, at::Device device) {
  const c10::AutoGradMode no_gradients(false);
  const auto path = folder / "config.json";
  const auto text = read_regular_file(path);
  if (!text) return tl::unexpected<Error>(text.error());
  ClassifierModel model;
  try {
    const auto json = Json::parse(*text);
    if (json.at("model_type") != kModelType)
      return fail(Fault::usage,
                  path.string() + ": this model is no classifier, its model_type is " + json.at("model_type").dump());
    const auto& stored = json.at("geometry");
    auto geometry = read_geometry(stored.dump(), stored.at("longs"), stored.at("shorts"));
    auto shape = read_shape(json.at("network").dump());
    if (!geometry || !shape) return fail_in(path.string(), !geometry ? geometry.error() : shape.error());
    model.geometry = *geometry;
    model.shape = *shape;
    model.labels = json.at("labels").get<std::vector<std::string>>();
    model.against = json.at("against");
    model.mean = column_of(json.at("normalisation").at("mean").get<std::vector<float>>(), device);
    model.deviation = column_of(json.at("normalisation").at("deviation").get<std::vector<float>>(), device);
  } catch (const nlohmann::json::exception& error) {
    return fail(Fault::corrupt, path.string() + ": " + error.what());
  }
  const bool agrees = std::ssize(model.labels) == model.shape.labels && model.mean.size(0) == model.shape.n_mels &&
                      model.geometry.mel.n_mels == model.shape.n_mels && model.geometry.frames() == model.shape.frames;
  if (!agrees) return fail(Fault::corrupt, path.string() + ": geometry, labels and network do not fit each other");
  model.weights = new_classifier(model.shape, 0, device);
  if (auto read = read_weights(folder / "model.safetensors", model.weights); !read)
    return tl::unexpected<Error>(read.error());
  return model;
}

}  // namespace tutti
