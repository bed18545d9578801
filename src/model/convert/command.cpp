#include "model/convert/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "base/try.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/ctranslate2_model.h"
#include "model/convert/file_on_the_way.h"
#include "model/convert/hugging_face_files.h"
#include "model/convert/openai_file.h"
#include "model/convert/weight_type.h"
#include "model/formats/dims.h"
#include "model/formats/formats.h"
#include "model/formats/safetensors_writer.h"
#include "settings/option_table.h"
#include "text/tokenizer.h"

namespace tutti {
namespace {

/// What the new model is, by the program that it is for.
enum class ModelFormat { hugging_face, openai, ctranslate2, ggml };

constexpr std::array kFormats{std::pair{std::string_view("hf"), ModelFormat::hugging_face},
                              std::pair{std::string_view("openai"), ModelFormat::openai},
                              std::pair{std::string_view("ctranslate2"), ModelFormat::ctranslate2},
                              std::pair{std::string_view("ggml"), ModelFormat::ggml}};

struct ConvertRequest {
  std::filesystem::path model{};    // a model of any kind that open_checkpoint reads
  std::filesystem::path into{};     // a folder that does not exist yet, or is empty; or a new file
  std::optional<ModelFormat> to{};  // none: OpenAI's for NAME.pt, whisper.cpp's for NAME.bin, else Hugging Face's
  WeightType type = WeightType::float16;
  bool prints = false;  // what was written
};

struct ConvertedModel {
  WhisperShape shape{};
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;  // size of the new model.safetensors, model.bin, or file
};

namespace fs = std::filesystem;

/// The new folder's path, its parent made.
Result<fs::path> free_place(const fs::path& wanted) {
  const fs::path into = wanted.has_filename() ? wanted : wanted.parent_path();  // "new/" is "new"
  std::error_code error;
  if (fs::exists(into, error) && (!fs::is_directory(into, error) || !fs::is_empty(into, error)))
    return fail(Fault::usage, into.string() + " exists and is not an empty folder", "Name a new one with -o");
  TRY(make_folders(folder_of(into)));
  return into;
}

Result<void> expect_space_for_model(const fs::path& folder, std::uint64_t needed) {
  return expect_space(folder, {static_cast<std::int64_t>(needed)}, "the new model",
                      "Free some space, or name a folder on another disk with -o");
}

Result<std::uint64_t> write_safetensors(const std::shared_ptr<const Checkpoint>& checkpoint,
                                        const std::vector<NetworkTensor>& tensors, WeightType type, int fd,
                                        const std::string& thing) {
  std::vector<TensorPlan> plans;
  for (const auto& tensor : tensors)
    for (auto& plan : plan_tensor(*tensor.stored, hugging_face_name(tensor.name), type))
      plans.push_back(std::move(plan));
  auto writer = TRY(SafetensorsWriter::start(fd, std::move(plans), thing));
  for (const auto& tensor : tensors) {
    TRY(convert_tensor(*tensor.stored, hugging_face_name(tensor.name), checkpoint, type,
                       [&](std::span<const std::byte> some) { return writer.add(some); }));
  }
  TRY(writer.finish());
  return writer.size();
}

/// All files together take the folder's name at once.
Result<void> publish(FileOnTheWay& weights, const std::string& weights_name,
                     const std::map<std::string, std::string>& files, const fs::path& into) {
  std::string name = into.string() + ".XXXXXX";
  if (!::mkdtemp(name.data())) return fail_errno(into.string(), "could not be created");
  const fs::path staging(name);
  Result<void> done = weights.put_at(staging / weights_name);
  for (const auto& [file, content] : files)
    if (done) done = write_file_atomically(staging / file, content);
  if (done && ::chmod(staging.c_str(), 0755) != 0) done = fail_errno(into.string(), "could not be given its mode");
  if (done && ::rename(staging.c_str(), into.c_str()) != 0)
    done = fail_errno(into.string(), "could not be put in place");
  std::error_code ignored;
  if (!done) fs::remove_all(staging, ignored);
  return done;
}

std::uint64_t parameters_of(const std::vector<NetworkTensor>& tensors) {
  std::uint64_t count = 0;
  for (const auto& tensor : tensors) count += byte_count(tensor.stored->shape, ElementType::i8).value_or(0);
  return count;
}

/// The space that the weights take on the disk, as far as it is known before: what is less than a float has factors.
std::uint64_t bytes_of(const std::vector<NetworkTensor>& tensors, WeightType type) {
  switch (type) {
    case WeightType::float32: return 4 * parameters_of(tensors);
    case WeightType::int8:
    case WeightType::q8_0: return parameters_of(tensors) + parameters_of(tensors) / 8;
    default: return 2 * parameters_of(tensors);
  }
}

ModelFormat format_of(const ConvertRequest& request) {
  if (request.to) return *request.to;
  if (request.into.extension() == ".bin") return ModelFormat::ggml;
  return request.into.extension() == ".pt" ? ModelFormat::openai : ModelFormat::hugging_face;
}

bool is_file(ModelFormat format) {
  return format == ModelFormat::openai || format == ModelFormat::ggml;
}

Result<void> expect_type_of_format(ModelFormat format, WeightType type) {
  const bool blocks = type == WeightType::q8_0;
  if (format == ModelFormat::ggml && (type == WeightType::bfloat16 || type == WeightType::int8))
    return fail(Fault::usage, field("type") +
                                  ": whisper.cpp's files have float32, float16 or q8_0 weights here; found " +
                                  std::string(name_of(type)));
  if (format != ModelFormat::ggml && blocks)
    return fail(Fault::usage, field("type") + " q8_0: only whisper.cpp's files have it",
                "Take int8, or write one with " + field("to") + " ggml");
  return {};
}

/// The model that is converted.
struct Source {
  std::shared_ptr<const Checkpoint> checkpoint;
  std::vector<NetworkTensor> tensors;  // of the checkpoint's own memory
};

Result<Source> open_source(const fs::path& model) {
  auto opened = TRY(open_checkpoint(model));
  auto checkpoint = std::make_shared<const Checkpoint>(std::move(opened));
  auto tensors = TRY(network_tensors(*checkpoint));
  return Source{std::move(checkpoint), std::move(tensors)};
}

/// The file is there whole or not at all, and nothing is replaced.
Result<std::uint64_t> write_ggml(const Source& source, const ConvertRequest& request, const MelFilterBank& filters) {
  const auto& checkpoint = *source.checkpoint;
  const auto tokenizer = TRY(Tokenizer::load(checkpoint.path, checkpoint.shape.dims.n_vocab));
  auto file = TRY(FileOnTheWay::open_in(folder_of(request.into)));
  const auto bytes = write_ggml_file(source.checkpoint, source.tensors, request.type, tokenizer, filters, file.fd(),
                                     request.into.string());
  if (!bytes) return bytes;
  TRY(file.put_at(request.into));
  return bytes;
}

Result<ConvertedModel> convert_to_file(const ConvertRequest& request, ModelFormat format,
                                       const MelFilterBank& filters) {
  std::error_code error;
  if (fs::exists(request.into, error))
    return fail(Fault::usage, request.into.string() + " exists", "Name a new file with -o");
  if (format == ModelFormat::openai && request.into.extension() != ".pt")
    return fail(Fault::usage, request.into.string() + ": a model file of openai-whisper has a name that ends in .pt",
                "Name it with -o NAME.pt");
  const auto source = TRY(open_source(request.model));
  const auto& shape = source.checkpoint->shape;
  TRY(format == ModelFormat::ggml ? check_ggml(shape.dims) : check_openai(shape.dims));
  for (const auto& [key, value] : audio_settings(source.checkpoint->path))
    log(Level::warning,
        request.into.string() + ": a file cannot hold \"" + key + "\": \"" + value +
            "\" of the model's config.json, without which it is given other audio than it was trained on; " +
            field("to") + " hf and ctranslate2 keep it");
  TRY(make_folders(folder_of(request.into)));
  TRY(expect_space_for_model(folder_of(request.into), bytes_of(source.tensors, request.type)));
  const auto bytes = TRY(format == ModelFormat::ggml
                             ? write_ggml(source, request, filters)
                             : write_openai_file(source.checkpoint, source.tensors, request.type, request.into));
  return ConvertedModel{.shape = shape, .parameters = parameters_of(source.tensors), .bytes = bytes};
}

Result<ConvertedModel> convert_to_folder(const ConvertRequest& request, ModelFormat format) {
  const bool is_ctranslate2 = format == ModelFormat::ctranslate2;
  const auto into = TRY(free_place(request.into));
  const auto source = TRY(open_source(request.model));
  const auto files = TRY(is_ctranslate2 ? ctranslate2_files(*source.checkpoint)
                                        : hugging_face_files(*source.checkpoint, request.type));
  TRY(expect_space_for_model(folder_of(into), bytes_of(source.tensors, request.type)));
  auto weights = TRY(FileOnTheWay::open_in(folder_of(into)));
  const auto write = is_ctranslate2 ? write_ctranslate2_weights : write_safetensors;
  const auto bytes = TRY(write(source.checkpoint, source.tensors, request.type, weights.fd(), into.string()));
  const char* name = is_ctranslate2 ? "model.bin" : "model.safetensors";
  TRY(publish(weights, name, files, into));
  return ConvertedModel{.shape = source.checkpoint->shape, .parameters = parameters_of(source.tensors), .bytes = bytes};
}

/// Writes a model for another program. What it writes is there whole or not at all: the weights go to a file without a
/// name on the same disk, which is gone if we die. Nothing starts unless the disk has the space. One tensor is in
/// memory at a time.
Result<ConvertedModel> convert_model(const ConvertRequest& request, const MelFilterBank& filters) {
  const ModelFormat format = format_of(request);
  TRY(expect_type_of_format(format, request.type));
  return is_file(format) ? convert_to_file(request, format, filters) : convert_to_folder(request, format);
}

std::optional<ModelFormat> format_named(std::string_view name) {
  for (const auto& [known, format] : kFormats)
    if (known == name) return format;
  return std::nullopt;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const auto& format : kFormats) names.emplace_back(format.first);
  return names;
}

Result<ConvertRequest> read_line(std::span<char*> arguments) {
  ConvertRequest request;
  std::string to, type(name_of(request.type));
  OptionTable table("tutti-engine convert", "");
  table.add("model", request.model);
  table.add("into", request.into);
  table.add("to", to).choices = format_names();
  table.add("type", type);
  table.add("print", request.prints);
  TRY(table.read_line_of_program(arguments));
  if (request.model.empty() || request.into.empty())
    return fail(Fault::usage, "convert needs --model PATH --into FOLDER|FILE");
  request.to = format_named(to);
  const auto known = weight_type_named(type);
  if (!known)
    return fail(Fault::usage,
                "convert --type: expected float32, float16, bfloat16, int8 or q8_0, found '" + type + "'");
  request.type = *known;
  return request;
}

/// Only here can memory run out, or a broken promise of ours end.
Result<ConvertedModel> convert(const ConvertRequest& request, const MelFilterBank& filters) {
  try {
    return convert_model(request, filters);
  } catch (const std::exception& problem) {
    return fail(Fault::internal, request.model.string() + ": " + problem.what());
  }
}

void print(const ConvertRequest& request, const ConvertedModel& model) {
  const auto& d = model.shape.dims;
  std::printf("%s: Whisper of %d + %d layers, %d wide, %d mel bins, %d tokens\n", request.into.c_str(), d.n_audio_layer,
              d.n_text_layer, d.n_text_state, d.n_mels, d.n_vocab);
  std::printf("%.1f million weights in %s, %.1f MB\n", static_cast<double>(model.parameters) / 1e6,
              std::string(name_of(request.type)).c_str(), static_cast<double>(model.bytes) / 1e6);
}

}  // namespace

int convert_command(std::span<char*> arguments, const MelFilterBank& filters) {
  const auto request = read_line(arguments);
  const auto converted = request ? convert(*request, filters) : tl::unexpected<Error>(request.error());
  if (converted) {
    if (request->prints) print(*request, *converted);
    return kDone;
  }
  log(Level::error, converted.error().text());
  return converted.error().fault == Fault::usage ? kUsage : kNothingRan;
}

}  // namespace tutti
