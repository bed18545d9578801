#include "model/convert/command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/process/exit_code.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/file_on_the_way.h"
#include "model/convert/hugging_face_files.h"
#include "model/convert/openai_file.h"
#include "model/convert/weight_type.h"
#include "model/formats/dims.h"
#include "model/formats/formats.h"
#include "model/formats/safetensors_writer.h"

namespace tutti {
namespace {

struct ConvertRequest {
  std::filesystem::path model{};  // a model of any kind that open_checkpoint reads
  std::filesystem::path into{};   // a folder that does not exist yet, or is empty; or a new file, NAME.pt
  WeightType type = WeightType::float16;
  bool prints = true;  // what was written
};

struct ConvertedModel {
  WhisperShape shape{};
  std::uint64_t parameters = 0;
  std::uint64_t bytes = 0;  // size of the new model.safetensors, or NAME.pt
};

namespace fs = std::filesystem;

/// The new folder's path, its parent made.
Result<fs::path> free_place(const fs::path& wanted) {
  const fs::path into = wanted.has_filename() ? wanted : wanted.parent_path();  // "new/" is "new"
  std::error_code error;
  if (fs::exists(into, error) && (!fs::is_directory(into, error) || !fs::is_empty(into, error)))
    return fail(Fault::usage, into.string() + " exists and is not an empty folder", "Name a new one with -o");
  if (auto made = make_folders(folder_of(into)); !made) return tl::unexpected<Error>(made.error());
  return into;
}

Result<void> expect_space_for_model(const fs::path& folder, std::uint64_t needed) {
  return expect_space(folder, {static_cast<std::int64_t>(needed)}, "the new model",
                      "Free some space, or name a folder on another disk with -o");
}

Result<std::uint64_t> write_weights(const std::shared_ptr<const Checkpoint>& checkpoint,
                                    const std::vector<NetworkTensor>& tensors, WeightType type, int fd,
                                    const std::string& thing) {
  std::vector<TensorPlan> plans;
  std::uint64_t bytes = 0;
  for (const auto& tensor : tensors)
    for (auto& plan : plan_tensor(*tensor.stored, hugging_face_name(tensor.name), type)) {
      bytes += byte_count(plan.shape, plan.type).value_or(0);
      plans.push_back(std::move(plan));
    }
  if (auto space = expect_space_for_model(folder_of(thing), bytes); !space) return tl::unexpected<Error>(space.error());
  auto writer = SafetensorsWriter::start(fd, std::move(plans), thing);
  if (!writer) return tl::unexpected<Error>(writer.error());
  for (const auto& tensor : tensors) {
    const auto written = convert_tensor(*tensor.stored, hugging_face_name(tensor.name), checkpoint, type,
                                        [&](std::span<const std::byte> some) { return writer->add(some); });
    if (!written) return tl::unexpected<Error>(written.error());
  }
  if (auto finished = writer->finish(); !finished) return tl::unexpected<Error>(finished.error());
  return writer->size();
}

/// All files together take the folder's name at once.
Result<void> publish(FileOnTheWay& weights, const std::map<std::string, std::string>& files, const fs::path& into) {
  std::string name = into.string() + ".XXXXXX";
  if (!::mkdtemp(name.data())) return fail_errno(into.string(), "could not be created");
  const fs::path staging(name);
  Result<void> done = weights.put_at(staging / "model.safetensors");
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

Result<ConvertedModel> convert_to_openai(const ConvertRequest& request) {
  std::error_code error;
  if (fs::exists(request.into, error))
    return fail(Fault::usage, request.into.string() + " exists", "Name a new file with -o");
  auto opened = open_checkpoint(request.model);
  if (!opened) return tl::unexpected<Error>(opened.error());
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(*opened));
  const auto tensors = network_tensors(*checkpoint);
  if (!tensors) return tl::unexpected<Error>(tensors.error());
  if (auto checked = check_openai(checkpoint->shape.dims); !checked) return tl::unexpected<Error>(checked.error());
  if (auto made = make_folders(folder_of(request.into)); !made) return tl::unexpected<Error>(made.error());
  const std::uint64_t element = request.type == WeightType::float32 ? 4 : 2;
  if (auto space = expect_space_for_model(folder_of(request.into), element * parameters_of(*tensors)); !space)
    return tl::unexpected<Error>(space.error());
  const auto bytes = write_openai_file(checkpoint, *tensors, request.type, request.into);
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  return ConvertedModel{.shape = checkpoint->shape, .parameters = parameters_of(*tensors), .bytes = *bytes};
}

/// Writes a model as a Hugging Face folder, or as OpenAI's file (openai_file.h). The folder is there whole or not at
/// all: the weights go to a file without a name on the same disk, which is gone if we die. Nothing starts unless the
/// disk has the space. One tensor is in memory at a time.
Result<ConvertedModel> convert_model(const ConvertRequest& request) {
  if (request.into.extension() == ".pt") return convert_to_openai(request);
  const auto into = free_place(request.into);
  if (!into) return tl::unexpected<Error>(into.error());
  auto opened = open_checkpoint(request.model);
  if (!opened) return tl::unexpected<Error>(opened.error());
  const auto checkpoint = std::make_shared<const Checkpoint>(std::move(*opened));
  const auto tensors = network_tensors(*checkpoint);
  if (!tensors) return tl::unexpected<Error>(tensors.error());
  const auto files = hugging_face_files(*checkpoint, request.type);
  if (!files) return tl::unexpected<Error>(files.error());
  auto weights = FileOnTheWay::open_in(folder_of(*into));
  if (!weights) return tl::unexpected<Error>(weights.error());
  const auto bytes = write_weights(checkpoint, *tensors, request.type, weights->fd(), into->string());
  if (!bytes) return tl::unexpected<Error>(bytes.error());
  if (auto done = publish(*weights, *files, *into); !done) return tl::unexpected<Error>(done.error());
  return ConvertedModel{.shape = checkpoint->shape, .parameters = parameters_of(*tensors), .bytes = *bytes};
}

Result<ConvertRequest> read_line(std::span<char*> arguments) {
  ConvertRequest request;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    const std::string_view value = arguments[i + 1];
    if (name == "--model") {
      request.model = value;
    } else if (name == "--into") {
      request.into = value;
    } else if (name == "--print") {
      request.prints = value == "yes";
    } else if (const auto type = weight_type_named(value); name == "--type" && type) {
      request.type = *type;
    } else {
      return fail(Fault::usage, "convert: " + std::string(name) + " " + std::string(value) + " is not understood");
    }
  }
  if (arguments.size() % 2 == 0 && !request.model.empty() && !request.into.empty()) return request;
  return fail(
      Fault::usage,
      "convert needs --model PATH --into FOLDER|NAME.pt [--type float32|float16|bfloat16|int8] [--print yes|no]");
}

/// Only here can memory run out, or a broken promise of ours end.
Result<ConvertedModel> convert(const ConvertRequest& request) {
  try {
    return convert_model(request);
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

int convert_command(std::span<char*> arguments) {
  const auto request = read_line(arguments);
  const auto converted = request ? convert(*request) : tl::unexpected<Error>(request.error());
  if (converted) {
    if (request->prints) print(*request, *converted);
    return kDone;
  }
  log(Level::error, converted.error().text());
  return converted.error().fault == Fault::usage ? kUsage : kNothingRan;
}

}  // namespace tutti
