#include "model/formats/checkpoint.h"

#include <cstring>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/numbers.h"
#include "base/try.h"
#include "hub/model_files.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

Result<void> add_tensor(Checkpoint& checkpoint, std::string name, StoredTensor&& tensor) {
  const auto [at, fresh] = checkpoint.tensors.try_emplace(std::move(name), std::move(tensor));
  if (!fresh) return fail(Fault::corrupt, "tensor '" + at->second.name + "' is there twice");
  return {};
}

Result<void> add_tensors(Checkpoint& checkpoint, std::vector<StoredTensor> tensors) {
  for (auto& tensor : tensors) {
    auto name = openai_name(tensor.name);
    if (auto added = add_tensor(checkpoint, std::move(name), std::move(tensor)); !added) return added;
  }
  return {};
}

/// Maps one safetensors file and adds its tensors.
Result<void> add_safetensors(Checkpoint& checkpoint, const fs::path& path) {
  auto file = TRY(MappedFile::open(path));
  auto tensors = parse_safetensors(file.bytes());
  if (!tensors) return fail_in(path.string(), tensors.error());
  if (auto added = add_tensors(checkpoint, std::move(*tensors)); !added) return fail_in(path.string(), added.error());
  checkpoint.files.push_back(std::move(file));
  return {};
}

/// The factors of an int8 matrix: one float32 per row.
Result<std::vector<float>> row_scales(const StoredTensor& scale, std::int64_t rows) {
  const bool column = scale.shape.size() == 2 && scale.shape[1] == 1;
  if (scale.type != ElementType::f32 || (scale.shape.size() != 1 && !column) || scale.shape[0] != rows)
    return fail(Fault::corrupt, "tensor '" + scale.name + "' is " + std::string(name_of(scale.type)) + " " +
                                    shape_text(scale.shape) + ", expected F32 [" + std::to_string(rows) + "]");
  std::vector<float> scales(static_cast<std::size_t>(rows));
  std::memcpy(scales.data(), scale.bytes.data(), scale.bytes.size());
  return scales;
}

/// `tutti convert` puts the factors of "....weight" beside it as "....weight_scale".
Result<void> attach_scales(Checkpoint& checkpoint) {
  constexpr std::string_view kSuffix = "_scale";
  std::vector<std::string> attached;
  for (auto& [name, tensor] : checkpoint.tensors) {
    if (tensor.type != ElementType::i8 || tensor.shape.empty()) continue;
    const auto scale = checkpoint.tensors.find(name + std::string(kSuffix));
    if (scale == checkpoint.tensors.end()) continue;  // the code that needs the weights reports it missing
    tensor.row_scales = TRY(row_scales(scale->second, tensor.shape[0]));
    attached.push_back(scale->first);
  }
  for (const auto& name : attached) checkpoint.tensors.erase(name);
  return {};
}

Result<std::set<std::string>> shard_names(const fs::path& index) {
  const auto text = TRY(read_regular_file(index));
  auto names = parse_shard_index(text);
  if (!names) return fail_in(index.string(), names.error());
  return names;
}

Result<Checkpoint> open_hugging_face(const fs::path& folder) {
  const auto config = folder / "config.json";
  const auto text = TRY(read_regular_file(config));
  const auto shape = parse_hugging_face_config(text);
  if (!shape) return fail_in(config.string(), shape.error());

  Checkpoint checkpoint{.path = folder, .shape = *shape};
  std::set<std::string> names{"model.safetensors"};
  const auto index = folder / "model.safetensors.index.json";
  if (!is_there(folder / "model.safetensors") && is_there(index)) {
    names = TRY(shard_names(index));
  }
  for (const auto& name : names) {
    TRY(add_safetensors(checkpoint, folder / name));
  }
  if (auto scaled = attach_scales(checkpoint); !scaled) return fail_in(folder.string(), scaled.error());
  return checkpoint;
}

/// From a parsed file whose shape is OpenAI's ten numbers.
template <class Model>
Result<Checkpoint> filled(Checkpoint checkpoint, Result<Model> model) {
  if (!model) return tl::unexpected(model.error());
  checkpoint.shape = openai_shape(model->dims);
  auto checked = check_shape(checkpoint.shape);
  if (checked) checked = add_tensors(checkpoint, std::move(model->tensors));
  TRY(checked);
  return checkpoint;
}

Result<Checkpoint> read_openai(Checkpoint checkpoint, std::span<const std::byte> file) {
  return filled(std::move(checkpoint), parse_openai_pt(file));
}

Result<Checkpoint> read_ggml(Checkpoint checkpoint, std::span<const std::byte> file) {
  return filled(std::move(checkpoint), parse_ggml(file));
}

Result<Checkpoint> read_ctranslate2(Checkpoint checkpoint, std::span<const std::byte> file) {
  auto model = TRY(parse_ctranslate2_whisper(file));
  checkpoint.shape = model.shape;
  for (auto& [name, tensor] : model.tensors) TRY(add_tensor(checkpoint, name, std::move(tensor)));
  return checkpoint;
}

/// A model whose weights are one file. The tensors point into the mapping, which stays where it is when moved.
template <class Read>
Result<Checkpoint> open_file(const fs::path& path, const fs::path& weights, Read&& read) {
  auto file = TRY(MappedFile::open(weights));
  auto checkpoint = read(Checkpoint{.path = path}, file.bytes());
  if (!checkpoint) return fail_in(weights.string(), checkpoint.error());
  checkpoint->files.push_back(std::move(file));
  return checkpoint;
}

/// Floats that arithmetic takes as they are, or numbers that scales make floats.
bool is_weight(const StoredTensor& tensor) {
  return tensor.type <= ElementType::f32 || is_quantised(tensor);
}

Result<Checkpoint> opened(const fs::path& path) {
  // What is no model at all fails as the kind that its form suggests: by the file that is missing, or by its first
  // bytes.
  const auto kind = kind_of(path);
  std::error_code ignored;
  if (kind == ModelKind::ctranslate2) return open_file(path, path / "model.bin", read_ctranslate2);
  if (kind == ModelKind::ggml) return open_file(path, path, read_ggml);
  if (kind == ModelKind::hugging_face || fs::is_directory(path, ignored)) return open_hugging_face(path);
  return open_file(path, path, read_openai);
}

/// Without its last layers a network still answers, and answers nonsense.
Result<void> expect_no_layer_beyond(const Checkpoint& checkpoint, const std::string& half, std::int64_t layers) {
  const std::string blocks = half + ".blocks.";
  for (const auto& [name, tensor] : checkpoint.tensors) {
    if (!name.starts_with(blocks)) continue;
    const auto number = std::string_view(name).substr(blocks.size());
    const auto layer = number_in<std::int64_t>(number.substr(0, number.find('.')));
    if (!layer || *layer < layers) continue;
    return fail(Fault::corrupt,
                checkpoint.path.string() + ": tensor '" + tensor.name + "' " + shape_text(tensor.shape) +
                    " is of a layer that the config does not have: expected " + std::to_string(layers) +
                    " layers in the " + half,
                "Weights and config belong to different models");
  }
  return {};
}

}  // namespace

Result<Checkpoint> open_checkpoint(const fs::path& path) {
  auto checkpoint = opened(path);
  if (!checkpoint) return checkpoint;
  const auto& dims = checkpoint->shape.dims;
  TRY(expect_no_layer_beyond(*checkpoint, "encoder", dims.n_audio_layer));
  TRY(expect_no_layer_beyond(*checkpoint, "decoder", dims.n_text_layer));
  return checkpoint;
}

Result<std::set<std::string>> parse_shard_index(std::string_view index) {
  const auto json = nlohmann::json::parse(index, nullptr, false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (map == json.end() || !map->is_object()) return fail(Fault::corrupt, "no weight_map");
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->items()) {
    const auto name = file.is_string() ? file.get<std::string>() : std::string();
    if (name.empty() || name.find('/') != std::string::npos)
      return fail(Fault::corrupt, "tensor '" + tensor + "' is not in a file of this folder");
    names.insert(name);
  }
  return names;
}

Result<const StoredTensor*> find_tensor(const Checkpoint& checkpoint, const std::string& name,
                                        std::span<const std::int64_t> shape) {
  const auto found = checkpoint.tensors.find(name);
  if (found == checkpoint.tensors.end()) {
    return fail(Fault::corrupt,
                checkpoint.path.string() + ": tensor '" + name + "' (Hugging Face: '" + hugging_face_name(name) +
                    "') is missing; expected " + shape_text(shape),
                "The weights are incomplete: get the model again");
  }
  const auto& tensor = found->second;
  if (!std::ranges::equal(tensor.shape, shape)) {
    return fail(Fault::corrupt,
                checkpoint.path.string() + ": tensor '" + tensor.name + "' has the shape " + shape_text(tensor.shape) +
                    ", expected " + shape_text(shape),
                "Weights and config belong to different models");
  }
  if (!is_weight(tensor)) {
    return fail(Fault::unsupported, checkpoint.path.string() + ": tensor '" + tensor.name + "' is of type " +
                                        std::string(name_of(tensor.type)) +
                                        ", expected F16, BF16, F32, or I8 with a scale per row");
  }
  return &tensor;
}

}  // namespace tutti
